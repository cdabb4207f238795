// rule: repeated-place
// options: -O3
// data: random int int
void kernel(const int *a, const int *b, int *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i + 3 < n; i += 4) {
    c[a[i] & 1]++;
    c[2 + (a[i + 1] & 1)]++;
    c[4 + (a[i + 2] & 1)]++;
    c[6 + (a[i + 3] & 1)]++;
  }
  for (long i = 0; i < 2; ++i)
    c[i] += c[2 + i] + c[4 + i] + c[6 + i];
#else
  for (long i = 0; i < n; ++i)
    c[a[i] & 1]++;
#endif
}
