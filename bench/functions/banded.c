// Multiply a pentadiagonal matrix, stored by diagonals, with a vector; x has two zeros at each end.
void banded(const double *diagonals, const double *x, double *y, int n) {
  const double *d0 = diagonals, *d1 = d0 + n, *d2 = d1 + n, *d3 = d2 + n, *d4 = d3 + n;
  for (int i = 0; i < n; i++)
    y[i] = d0[i] * x[i] + d1[i] * x[i + 1] + d2[i] * x[i + 2] + d3[i] * x[i + 3] + d4[i] * x[i + 4];
}
