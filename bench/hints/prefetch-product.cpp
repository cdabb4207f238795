// rule: prefetch
// options: -O2
// memory: 134217728
// n: 16777216
// data: double anywhere double
// A sparse matrix of which each row has 16 elements, times a vector.
extern "C" void kernel(const double *a, const int *b, double *c, long n) {
  for (long row = 0; row < n / 32; ++row) {
    double sum = 0;
    for (long k = 16 * row; k < 16 * row + 16; ++k) {
#ifdef CHANGED
      __builtin_prefetch(&a[b[k + 64]]);
#endif
      sum += a[n - 1 - k] * a[b[k]];
    }
    c[row] = sum;
  }
}
