// rule: memory-chain
// options: -O2
// data: int int int
extern "C" void kernel(const int *a, const int *b, int *c, long n) {
#ifdef CHANGED
  int last = c[0];
  for (long i = 1; i < n; ++i) {
    last += a[i] ^ b[i];
    c[i] = last;
  }
#else
  for (long i = 1; i < n; ++i)
    c[i] = c[i - 1] + (a[i] ^ b[i]);
#endif
}
