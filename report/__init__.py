"""What a report is: its types, how it is built, worded and merged."""
