// rule: complex-range
// n: 512
#include <complex>
typedef std::complex<double> number;
extern "C" void kernel(const number *a, const number *b, number *__restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = a[i] * a[i] + b[i];
}
