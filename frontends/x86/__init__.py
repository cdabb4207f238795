"""x86-64: from assembly text or machine code to decoded instructions."""
