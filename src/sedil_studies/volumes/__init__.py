"""Three axes: noise and missing voxels of a head and of two clips."""
