// rule: complex-range
// options: -O3
// n: 1024
#include <complex>
#include <numeric>
typedef std::complex<double> number;
extern "C" double kernel(const number *a, const number *b, number *c, long n) {
  return std::norm(std::inner_product(a, a + n, b, number()));
}
