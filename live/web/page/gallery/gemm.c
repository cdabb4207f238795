// The innermost part of a matrix product: 4 rows times 8 columns in registers.
void block(double *restrict c, const double *restrict a, const double *restrict b, long n) {
  double sum[4][8] = {{0}};
  for (long k = 0; k < n; k++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 8; j++)
        sum[i][j] += a[4 * k + i] * b[8 * k + j];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++)
      c[8 * i + j] += sum[i][j];
}
