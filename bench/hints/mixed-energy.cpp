// rule: conversions
// options: -O3 -fno-math-errno
// data: float float float
#include <cmath>
struct Scale {
#ifdef CHANGED
  float factor = 0.5f;
#else
  double factor = 0.5;
#endif
  float operator()(float v, float m) const { return factor * m * v * v; }
};
extern "C" void kernel(const float *v, const float *m, float *__restrict e, long n) {
  const Scale kinetic;
  for (long i = 0; i < n; ++i)
    e[i] = kinetic(v[i], m[i]);
}
