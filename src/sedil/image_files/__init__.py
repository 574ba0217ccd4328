"""Files of pictures and volumes: finding, reading and writing them."""
