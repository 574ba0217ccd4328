"""Images: reading them, and patches of them."""
