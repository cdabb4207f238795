"""Command lines: the table of options, parsers, help, manual pages and shell completion."""
