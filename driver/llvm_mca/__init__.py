"""llvm-mca's place: its options, targets, names and messages."""
