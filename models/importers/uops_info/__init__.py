"""Import of uops.info's measurements."""
