void read_all(double *a, double *b) {
  for (int i = 0; i < 1000; i++)
    a[i] = b[i] = i;
}
