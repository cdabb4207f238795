// rule: math-errno
#include <cmath>
#include <algorithm>
extern "C" void kernel(const double *a, const double *b, double *c, long n) {
  std::transform(a, a + n, c, [](double x) { return std::sqrt(x); });
}
