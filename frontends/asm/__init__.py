"""Assembly text: statements (`parse`), control flow (`control_flow`), regions to analyse (`regions`), `markers`."""
