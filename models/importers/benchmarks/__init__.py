"""Import of the output of ibench and asmbench."""
