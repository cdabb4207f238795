void scale(double *restrict y, const double *restrict x, long rows, long columns) {
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j)
      y[i * columns + j] = 2 * x[i * columns + j];
}
