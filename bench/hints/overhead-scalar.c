// rule: loop-overhead
// options: -O2 -fno-tree-vectorize
// data: long long long
void kernel(const long *a, const long *b, long *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = a[i] ^ b[i];
}
