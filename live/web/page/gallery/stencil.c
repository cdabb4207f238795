// A stencil in two dimensions: five points of three rows.
void jacobi(double *restrict to, const double *restrict from, long rows, long columns) {
  for (long i = 1; i < rows - 1; i++)
    for (long j = 1; j < columns - 1; j++)
      to[i * columns + j] = 0.25 * (from[(i - 1) * columns + j] + from[i * columns + j - 1] +
                                    from[i * columns + j + 1] + from[(i + 1) * columns + j]);
}
