// rule: invariant-access
// options: -O2
void kernel(const double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  double left = b[0], middle = b[1], right = b[2];
#else
#define left b[0]
#define middle b[1]
#define right b[2]
#endif
  for (long i = 1; i < n - 1; ++i)
    c[i] = left * a[i - 1] + middle * a[i] + right * a[i + 1];
}
