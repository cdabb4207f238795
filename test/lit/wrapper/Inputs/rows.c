/* An element of the row that is written; of the row's start, which a loop from the next element on does not write. */
void paths(double *d, long n) {
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j)
        d[i * n + j] = d[i * n + k] + d[k * n + j] < d[i * n + j] ? d[i * n + k] + d[k * n + j] : d[i * n + j];
}

void eliminate(double *a, long n) {
  for (long k = 0; k < n; ++k)
    for (long i = k + 1; i < n; ++i)
      for (long j = k + 1; j < n; ++j)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

void scale(double *y, const double *x, const double *factor, long n) {
  for (long i = 0; i < n; ++i)
    y[i] = *factor * x[i];
}
