"""Instruction forms: what a model must know of them for each instruction set."""
