"""Port sets of instruction forms, inferred from throughputs."""
