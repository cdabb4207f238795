// rule: extremum-chain
#include <algorithm>
extern "C" double kernel(const double *a, const double *b, double *c, long n) {
  double m = 0;
  for (long i = 0; i < n; ++i)
    m = std::max(m, a[i] * b[i]);
  return m;
}
