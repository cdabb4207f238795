// rule: old-destination
// options: -O3 -fno-tree-vectorize
// data: double double double
#include <immintrin.h>
extern "C" void kernel(const double *a, const double *b, double *__restrict c, long n) {
  __m128d exponent = _mm_setzero_pd();
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    exponent = _mm_setzero_pd();
#endif
    exponent = _mm_getexp_sd(exponent, _mm_load_sd(a + i));
    c[i] = _mm_cvtsd_f64(exponent) + b[i];
  }
}
