// rule: stored-accumulator
void kernel(const double *a, const double *b, double *c, long n) {
  for (long row = 0; row < 8; ++row) {
#ifdef CHANGED
    double sums[4] = {c[row], 0, 0, 0};
    for (long i = 0; i + 4 <= n / 8; i += 4)
      for (int k = 0; k < 4; ++k)
        sums[k] += a[row * n / 8 + i + k] * b[i + k];
    c[row] = sums[0] + sums[1] + sums[2] + sums[3];
#else
    for (long i = 0; i < n / 8; ++i)
      c[row] += a[row * n / 8 + i] * b[i];
#endif
  }
}
