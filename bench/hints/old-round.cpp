// rule: old-destination
// options: -O3 -fno-tree-vectorize
// data: double double double
#include <immintrin.h>
extern "C" void kernel(const double *a, const double *b, double *__restrict c, long n) {
  __m128d rounded = _mm_setzero_pd();
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    rounded = _mm_setzero_pd();
#endif
    rounded = _mm_floor_sd(rounded, _mm_load_sd(a + i));
    c[i] = b[i] - _mm_cvtsd_f64(rounded);
  }
}
