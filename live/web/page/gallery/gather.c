// Indirect loads: a sparse matrix times a vector.
void spmv(double *restrict y, const double *value, const int *column, const long *row, const double *x, long rows) {
  for (long i = 0; i < rows; i++) {
    double sum = 0;
    for (long k = row[i]; k < row[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}
