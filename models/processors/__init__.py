"""Names of processors, and recognition of the host's core."""
