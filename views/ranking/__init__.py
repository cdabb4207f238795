"""Views of a ranking: the kernels of a build, the most worthwhile first."""
