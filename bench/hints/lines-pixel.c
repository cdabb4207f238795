// rule: partly-used-lines
// options: -O2 -fno-tree-vectorize
// memory: 134217728
// n: 4194304
struct cell {
  double density, energy, momentum[2];
};
void kernel(const double *restrict a, const double *b, double *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i < n; ++i)
    c[i] = 1.5 * a[i];
#else
  const struct cell *p = (const struct cell *)a;
  for (long i = 0; i < n; ++i)
    c[i] = 1.5 * p[i].density;
#endif
}
