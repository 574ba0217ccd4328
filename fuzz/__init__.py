"""Attacks on the package, to find what crashes, hangs or lies: ``python -m fuzz api --cases 10000``."""
