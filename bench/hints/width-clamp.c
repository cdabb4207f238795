// rule: vector-width
// n: 2048
// data: int int int
void kernel(const int *a, const int *b, int *restrict c, long n) {
  for (long i = 0; i < n; ++i) {
    int x = 3 * a[i] + b[i];
    c[i] = x < 100 ? 100 : x > 900 ? 900 : x;
  }
}
