"""Import of LLVM's scheduling models."""
