// rule: sum-chain-packed
#include <immintrin.h>
double kernel(const double *a, const double *b, double *c, long n) {
  const __m512d magnitude = _mm512_castsi512_pd(_mm512_set1_epi64(0x7fffffffffffffff));
#ifdef CHANGED
  __m512d s0 = _mm512_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
  for (const double *p = a, *end = a + n; p < end; p += 32) {
    s0 = _mm512_add_pd(s0, _mm512_and_pd(_mm512_loadu_pd(p), magnitude));
    s1 = _mm512_add_pd(s1, _mm512_and_pd(_mm512_loadu_pd(p + 8), magnitude));
    s2 = _mm512_add_pd(s2, _mm512_and_pd(_mm512_loadu_pd(p + 16), magnitude));
    s3 = _mm512_add_pd(s3, _mm512_and_pd(_mm512_loadu_pd(p + 24), magnitude));
  }
  __m512d sum = _mm512_add_pd(_mm512_add_pd(s0, s1), _mm512_add_pd(s2, s3));
#else
  __m512d sum = _mm512_setzero_pd();
  for (const double *p = a, *end = a + n; p < end; p += 8)
    sum = _mm512_add_pd(sum, _mm512_and_pd(_mm512_loadu_pd(p), magnitude));
#endif
  return _mm512_reduce_add_pd(sum);
}
