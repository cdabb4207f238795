"""Object files, libraries and programs: a common form for all formats, and the loops of their machine code."""
