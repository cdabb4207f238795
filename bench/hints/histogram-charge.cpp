// rule: repeated-place
// options: -O3
// data: random float float
#include <cstddef>
extern "C" void kernel(const int *cell, const float *charge, float *__restrict density, std::size_t n) {
#ifdef CHANGED
  float even[4] = {}, odd[4] = {};
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    even[cell[i] & 3] += charge[i];
    odd[cell[i + 1] & 3] += charge[i + 1];
  }
  for (int k = 0; k < 4; ++k)
    density[k] += even[k] + odd[k];
#else
  for (std::size_t i = 0; i < n; ++i)
    density[cell[i] & 3] += charge[i];
#endif
}
