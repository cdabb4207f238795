// rule: extremum-chain
// data: float float float
#include <cmath>
struct Range {
  float low, high;
};
extern "C" void kernel(const float *x, const float *y, Range *range, long n) {
  Range r{x[0], x[0]};
  for (long i = 1; i < n; ++i) {
    r.low = std::fmin(r.low, x[i]);
    r.high = std::fmax(r.high, x[i]);
  }
  *range = r;
}
