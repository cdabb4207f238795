// rule: sum-chain-packed
#include <immintrin.h>
double kernel(const double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  __m256d sum[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()};
  for (long i = 0; i < n; i += 16)
    for (int k = 0; k < 4; ++k)
      sum[k] = _mm256_fmadd_pd(_mm256_loadu_pd(a + i + 4 * k), _mm256_loadu_pd(b + i + 4 * k), sum[k]);
  __m256d all = _mm256_add_pd(_mm256_add_pd(sum[0], sum[1]), _mm256_add_pd(sum[2], sum[3]));
#else
  __m256d all = _mm256_setzero_pd();
  for (long i = 0; i < n; i += 4)
    all = _mm256_fmadd_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i), all);
#endif
  return all[0] + all[1] + all[2] + all[3];
}
