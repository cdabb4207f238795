// rule: repeated-place
// options: -O2
// data: sorted int int
void kernel(const int *a, const int *b, int *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i + 3 < n; i += 4) {
    c[a[i] >> 5]++;
    c[64 + (a[i + 1] >> 5)]++;
    c[128 + (a[i + 2] >> 5)]++;
    c[192 + (a[i + 3] >> 5)]++;
  }
  for (long i = 0; i < 64; ++i)
    c[i] += c[64 + i] + c[128 + i] + c[192 + i];
#else
  for (long i = 0; i < n; ++i)
    c[a[i] >> 5]++;
#endif
}
