"""The kernels of a whole build, in the order in which they are worth a look: what `incc-report` makes of reports."""
