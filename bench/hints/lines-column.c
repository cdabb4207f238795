// rule: partly-used-lines
// options: -O3 -ffast-math -fno-tree-loop-distribution
// memory: 134217728
// n: 16777216
#define ROW 4096L
void kernel(const double (*restrict a)[ROW], const double *b, double *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i < ROW; ++i)
    c[i] = 0;
  for (long j = 0; j < n / ROW; ++j)
    for (long i = 0; i < ROW; ++i)
      c[i] += a[j][i];
#else
  for (long i = 0; i < ROW; ++i) {
    double sum = 0;
    for (long j = 0; j < n / ROW; ++j)
      sum += a[j][i];
    c[i] = sum;
  }
#endif
}
