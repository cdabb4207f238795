// rule: sum-chain
#include <numeric>
extern "C" double kernel(const double *a, const double *b, double *c, long n) {
  return std::accumulate(a, a + n, 0.0, [](double sum, double x) { return sum + x * x; });
}
