"""Photographs past the paper's five: Kodak's in colour and in grey, and parts of the Berkeley collection."""
