// rule: integer-division
// n: 2048
// data: int int int
#include <vector>
extern "C" int kernel(const int *a, const int *b, int *c, long n) {
  int total = 0;
#ifdef CHANGED
  double width = b[3];
  for (long i = 0; i < n; ++i)
    total += (int)(a[i] / width);
#else
  int width = b[3];
  for (long i = 0; i < n; ++i)
    total += a[i] / width;
#endif
  return total;
}
