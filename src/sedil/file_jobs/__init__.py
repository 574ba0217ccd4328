"""Work on files of pictures and volumes: what to read, what to do, where to write."""
