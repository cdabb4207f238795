// Solve L x = b for a lower triangular matrix, row by row.
void triangular_solve(const double *l, const double *b, double *x, int n) {
  for (int i = 0; i < n; i++) {
    double sum = b[i];
    for (int j = 0; j < i; j++)
      sum -= l[i * n + j] * x[j];
    x[i] = sum / l[i * n + i];
  }
}
