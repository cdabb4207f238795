"""llvm-mca's command line: `incc-mca --compat`, or the program linked as `llvm-mca`."""
