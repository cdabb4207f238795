// rule: loop-overhead
// n: 2048
// data: int int int
void kernel(const int *a, const int *b, int *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = 3 * a[i];
}
