"""Object files, libraries and programs: what is in them, whatever the format, and the loops of their machine code."""
