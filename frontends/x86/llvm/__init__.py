"""LLVM's view of x86: how it reads text, prints instructions, and describes their effects."""
