// rule: recurrence
// options: -O2
// data: double index long
void kernel(const double *a, const int *b, long *restrict c, long n) {
  long m = n / 2; // two lists, whose links are indices
  int p = 0, q = 1;
#ifdef CHANGED
  for (long i = 0; i < m; ++i) {
    p = b[p];
    q = b[q];
  }
#else
  for (long i = 0; i < m; ++i)
    p = b[p];
  for (long i = 0; i < m; ++i)
    q = b[q];
#endif
  c[0] = p + q;
}
