"""Arrays that are larger than a machine: Dask arrays, files in chunks, learning by many workers.

Nothing here is loaded, and neither is Dask, before a Dask array or a file in chunks comes.
"""
