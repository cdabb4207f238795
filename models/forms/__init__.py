"""Instruction forms: the facts about them that models need for each instruction set."""
