"""What others offer, adapted once, for studies and benchmarks alike."""
