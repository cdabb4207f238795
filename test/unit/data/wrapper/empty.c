extern int nothing_is_defined_here;
