double sum(const double *a, int n) {
  double total = 0;
  for (int i = 0; i < n; i++)
    total += a[i];
  return total;
}
