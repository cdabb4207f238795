// rule: non-temporal-stores
// memory: 134217728
// n: 33554432
#ifdef CHANGED
#include <immintrin.h>
#endif
extern "C" void kernel(const float *a, const float *b, float *c, long n) {
#ifdef CHANGED
  for (long i = 0; i < n; i += 8)
    _mm256_stream_ps(c + i, _mm256_set1_ps(1.0f));
#else
  for (long i = 0; i < n; ++i)
    c[i] = 1.0f;
#endif
}
