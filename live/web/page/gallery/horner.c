// Horner's rule for many arguments: a chain inside each, but none between them.
void horner(double *restrict y, const double *restrict x, long n) {
  for (long i = 0; i < n; i++)
    y[i] = ((((0.1 * x[i] + 0.2) * x[i] + 0.3) * x[i] + 0.4) * x[i] + 0.5) * x[i] + 0.6;
}
