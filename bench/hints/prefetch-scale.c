// rule: prefetch
// options: -O2
// memory: 134217728
// n: 16777216
// data: double anywhere double
void kernel(const double *restrict a, const int *restrict b, double *restrict c, long n) {
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    __builtin_prefetch(&a[b[i + 64]]);
#endif
    c[i] = 0.5 * c[i] + a[b[i]];
  }
}
