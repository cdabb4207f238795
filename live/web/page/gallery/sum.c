// A sum: each addition waits for the one before. Try -fassociative-math -fno-signed-zeros -fno-trapping-math.
double sum(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; i++)
    s += a[i];
  return s;
}
