// rule: old-destination
// options: -O3 -fno-tree-vectorize
// data: int double double
#include <immintrin.h>
void kernel(const int *a, const double *b, double *restrict c, long n) {
  __m128d converted = _mm_setzero_pd();
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    converted = _mm_setzero_pd();
#endif
    converted = _mm_cvtu32_sd(converted, (unsigned)a[i]);
    c[i] = _mm_cvtsd_f64(converted) * b[i];
  }
}
