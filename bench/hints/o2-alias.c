// rule: scalar-arithmetic
// options for gcc: -O2
// options for clang: -O1
void kernel(const double *a, const double *b, double *c, long n, double s) {
  for (long i = 0; i < n; ++i)
    c[i] = a[i] + s * b[i];
}
