double dot(const double *a, const double *b, int n);

int main(void) {
  double a[100];
  for (int i = 0; i < 100; i++)
    a[i] = i;
  return dot(a, a, 100) != 328350;
}
