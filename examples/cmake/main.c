#include <stdio.h>

void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, long n);

int main(void) {
  static double a[1000], b[1000], c[1000];
  for (int i = 0; i < 1000; ++i)
    b[i] = i, c[i] = 2 * i;
  triad(a, b, c, 0.5, 1000);
  printf("%g\n", a[999]);
}
