"""Noise as cameras and microscopes make it: photographs of cameras, and simulated counts of photons."""
