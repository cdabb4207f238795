"""Views of a ranking: the kernels of a build, what is worth a look first."""
