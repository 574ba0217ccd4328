"""The paper's second experiment: a dictionary of whole faces fills large holes of other persons' faces."""
