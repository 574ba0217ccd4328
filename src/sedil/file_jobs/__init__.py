"""Work on files of pictures and volumes: what is read, what is done, where the results go."""
