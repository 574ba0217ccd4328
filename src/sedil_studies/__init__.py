"""Studies on top of the library: the paper's tables and figures, benchmarks, and the methods of others."""
