// Square roots and divisions share a unit that is busy for many cycles. Try -fno-math-errno.
#include <math.h>

void normalise(double *restrict x, double *restrict y, long n) {
  for (long i = 0; i < n; i++) {
    double length = sqrt(x[i] * x[i] + y[i] * y[i]);
    x[i] /= length;
    y[i] /= length;
  }
}
