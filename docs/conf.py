"""How the site is built: `make docs`. Nothing is fetched, neither to build it nor to read it."""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("MPLBACKEND", "Agg")

import moving_pictures

import sedil

project = "sedil"
author = copyright = "the sedil developers"
version = release = sedil.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "math_as_pictures",  # beside this file: the usual renderer loads a script from elsewhere
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "py:obj"  # what docstrings have in single backticks
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the gallery is configured by objects

autodoc_typehints = "none"  # types stand in the docstrings
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False  # autodoc lists them

# Examples that need what is not installed are shown, but not run.
not_run = [kind for kind, needed in {"torch_": "torch", "dask_": "dask"}.items() if not find_spec(needed)]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": rf"/(?!{'|'.join(not_run)})\w+\.py$" if not_run else r"\.py$",
    "subsection_order": ["../examples/restore", "../examples/learn", "../examples/together"],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib", moving_pictures.scrape),
    "backreferences_dir": "generated/examples_of",
    "doc_module": ("sedil",),
    "reference_url": {"sedil": None},
    "remove_config_comments": True,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
}

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "pictures"
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _link_reports)
    app.connect("autodoc-process-docstring", _keep_stars, priority=100)  # before numpydoc


def _link_reports(app, docname, source):
    """Reports beside `docs` are no pages of the site: they are offered as files."""
    source[0] = re.sub(r"\]\((\.\./[^)#]+\.md)\)", r"](path:\1)", source[0])


def _keep_stars(app, what, name, obj, options, lines):
    """The star of ``(n, *patch_shape)`` is no markup."""
    lines[:] = [
        re.sub(r"(``.*?``)|\*(?=patch_shape|n_atoms)", lambda m: m[1] or r"\*", line) for line in lines
    ]
