"""AArch64: what an instruction's text says about its form."""
