"""The source behind a kernel: the compiler's remarks, marks, places, names, and loops without code of their own."""
