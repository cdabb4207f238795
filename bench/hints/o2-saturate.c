// rule: scalar-arithmetic
// options for gcc: -O2
// options for clang: -O1
// n: 4096
// data: byte byte byte
#include <stdint.h>
void kernel(const uint8_t *a, const uint8_t *b, uint8_t *c, long n) {
  for (long i = 0; i < n; i++) {
    int sum = a[i] + b[i];
    c[i] = sum > 255 ? 255 : sum;
  }
}
