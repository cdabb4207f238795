// rule: recurrence
// options: -O2
// data: byte double long
void kernel(const unsigned char *a, const double *b, unsigned long *restrict c, long n) {
  long m = n / 4; // four texts
  const unsigned long prime = 1099511628211ul, start = 14695981039346656037ul;
#ifdef CHANGED
  unsigned long r = start, s = start, t = start, u = start;
  for (long i = 0; i < m; ++i) {
    r = (r ^ a[i]) * prime;
    s = (s ^ a[m + i]) * prime;
    t = (t ^ a[2 * m + i]) * prime;
    u = (u ^ a[3 * m + i]) * prime;
  }
  c[0] = r ^ s ^ t ^ u; // stored side by side, the four would be multiplied as a vector, which is slower
#else
  unsigned long all = 0;
  for (long k = 0; k < 4; ++k) {
    unsigned long r = start;
    for (long i = 0; i < m; ++i)
      r = (r ^ a[k * m + i]) * prime;
    all ^= r;
  }
  c[0] = all;
#endif
}
