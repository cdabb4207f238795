"""Import of incc-bench's measurements."""
