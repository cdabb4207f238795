#include "clamp.h"

void clamp(long *a, long n, long low, long high, long *counts) {
  for (long i = 0; i < n; ++i) {
    long v = a[i];
    if (v < low) {
      a[i] = low;
      ++counts[v & 7];
    } else if (v > high) {
      a[i] = high / (v - high);
    }
  }
}

double dot(const double *a, const double *b, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i)
    s += scaled(a[i], b[i]);
  return s;
}
