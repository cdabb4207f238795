// rule: non-temporal-stores
// memory: 134217728
// n: 16777216
#ifdef CHANGED
#include <immintrin.h>
#endif
void kernel(const double *restrict a, const double *b, double *restrict c, long n, double s) {
#ifdef CHANGED
  for (long i = 0; i < n; i += 4)
    _mm256_stream_pd(c + i, _mm256_mul_pd(_mm256_set1_pd(s), _mm256_loadu_pd(a + i)));
#else
  for (long i = 0; i < n; ++i)
    c[i] = s * a[i];
#endif
}
