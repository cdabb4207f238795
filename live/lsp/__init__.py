"""The language server: what an editor shows of the loops of a file while it is written."""
