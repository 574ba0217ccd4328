"""What the studies measure by: the cost on patches held out, the error inside a hole, memory."""
