"""Missing pixels of photographs: at random, under text, under scratches."""
