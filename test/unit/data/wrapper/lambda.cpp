#include <algorithm>
#include <cstdint>

template <class F> static void each(std::uint32_t *a, int n, F f) {
  for (int i = 0; i < n; i++)
    a[i] = f(a[i]);
}

void scramble(std::uint32_t *a, int n, std::uint32_t key) {
  each(a, n, [key](std::uint32_t x) { return (x << 7 | x >> 25) ^ key; });
}

void clamp(float *a, int n) {
  std::transform(a, a + n, a, [](float x) { return std::min(std::max(x, 0.0f), 1.0f); });
}
