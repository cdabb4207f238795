// rule: non-temporal-stores
// memory: 134217728
// n: 16777216
// data: long long long
#ifdef CHANGED
#include <immintrin.h>
#endif
void kernel(const long *restrict a, const long *b, long *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i < n; i += 4) {
    __m256i inverted = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(a + i)), _mm256_set1_epi64x(-1));
    _mm256_stream_si256((__m256i *)(c + i), inverted);
  }
#else
  for (long i = 0; i < n; ++i)
    c[i] = ~a[i];
#endif
}
