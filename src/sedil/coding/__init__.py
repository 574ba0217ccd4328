"""Sparse coding over a separable dictionary."""

from sedil.coding.sparse_code import sparse_code

__all__ = ["sparse_code"]
