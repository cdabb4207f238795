// rule: scalar-arithmetic
// options for gcc: -O2
// options for clang: -O1
// n: 4096
// data: byte byte int
#include <stdint.h>
int kernel(const int8_t *a, const int8_t *b, int *c, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
