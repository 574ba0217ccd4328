"""The portable engine: the array API standard, on NumPy, torch (CPU, CUDA) and any other array library."""
