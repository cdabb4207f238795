// rule: scalar-arithmetic
// options for gcc: -O2
// options for clang: -O1
// data: int int int
#include <algorithm>
extern "C" int kernel(const int *a, const int *b, int *c, long n) {
  int largest = a[0];
  for (long i = 1; i < n; i++)
    largest = std::max(largest, a[i] ^ b[i]);
  return largest;
}
