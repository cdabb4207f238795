"""Views of reports, comparisons, rankings and databases; each reads its document and nothing else."""
