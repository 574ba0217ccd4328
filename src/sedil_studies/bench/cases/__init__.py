"""The cases of the benchmark, one a file."""
