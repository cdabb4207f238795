// rule: old-destination
// options: -O3 -fno-tree-vectorize
// data: double double double
#include <immintrin.h>
void kernel(const double *a, const double *b, double *restrict c, long n) {
  __m128d reciprocal = _mm_setzero_pd();
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    reciprocal = _mm_setzero_pd();
#endif
    reciprocal = _mm_rcp14_sd(reciprocal, _mm_load_sd(a + i));
    c[i] = _mm_cvtsd_f64(reciprocal) * b[i];
  }
}
