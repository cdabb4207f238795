#define AT(p, i, j) ((p)[(i) * 64 + (j)])

static inline double around(const double *p, int i, int j) {
  return AT(p, i - 1, j) + AT(p, i + 1, j) + AT(p, i, j - 1) + AT(p, i, j + 1);
}

void stencil(const double *restrict in, double *restrict out) {
  for (int i = 1; i < 63; i++)
    for (int j = 1; j < 63; j++)
      AT(out, i, j) = 0.25 * around(in, i, j);
}
