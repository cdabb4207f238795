"""LLVM's view of x86: its reading of text, its printing of instructions, and their effects in its descriptions."""
