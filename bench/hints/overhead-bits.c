// rule: loop-overhead
// march: haswell
// mcpu: haswell
// options: -O2 -fno-tree-vectorize
// data: int int int
int kernel(const int *a, const int *b, int *restrict c, int n) {
  int seen = 0, parity = 0;
  for (int i = 0; i < n; i++) {
    int changed = a[i] ^ b[i];
    seen |= changed;
    parity ^= a[i];
    c[i] = changed;
  }
  return seen + parity;
}
