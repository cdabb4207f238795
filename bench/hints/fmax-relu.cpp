// rule: extremum-call
// options: -O2
// data: float float float
#include <cmath>
extern "C" void kernel(const float *x, const float *weight, float *__restrict y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] += weight[i] * std::fmax(x[i], 0.0f);
}
