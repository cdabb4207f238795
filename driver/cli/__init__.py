"""The command line: the table of options, its parsers, help, manual pages and completion."""
