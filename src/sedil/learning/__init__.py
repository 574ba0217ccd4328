"""Learning dictionaries: Algorithms 1 and 2 of the paper."""
