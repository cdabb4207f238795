#include <stdint.h>

#define MIX(T)                                                                                                         \
  T mix_##T(const T *a, int n) {                                                                                       \
    T s = 7;                                                                                                           \
    for (int i = 0; i < n; i++)                                                                                        \
      s = (T)(s * 31 + (a[i] >> 1));                                                                                   \
    return s;                                                                                                          \
  }

MIX(int8_t)
MIX(uint16_t)
MIX(int32_t)
MIX(uint64_t)

long double wide(const long double *a, int n) {
  long double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i] / (i + 1);
  return s;
}
