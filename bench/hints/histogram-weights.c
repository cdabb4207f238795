// rule: repeated-place
// options: -O2
// data: sorted double double
void kernel(const int *a, const double *b, double *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i + 3 < n; i += 4) {
    c[a[i] >> 5] += b[i];
    c[64 + (a[i + 1] >> 5)] += b[i + 1];
    c[128 + (a[i + 2] >> 5)] += b[i + 2];
    c[192 + (a[i + 3] >> 5)] += b[i + 3];
  }
  for (long i = 0; i < 64; ++i)
    c[i] += c[64 + i] + c[128 + i] + c[192 + i];
#else
  for (long i = 0; i < n; ++i)
    c[a[i] >> 5] += b[i];
#endif
}
