// rule: prefetch
// options: -O2
// memory: 134217728
// n: 16777216
// data: double anywhere double
void kernel(const double *a, const int *b, double *restrict c, long n) {
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    __builtin_prefetch(&c[b[i + 64]], 1);
#endif
    c[b[i]] += 1;
  }
}
