"""Separable dictionaries: learn them, inspect them, restore images with them.

The public names are listed in ``__init__.pyi`` and imported when first used: ``import sedil`` stays fast.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
