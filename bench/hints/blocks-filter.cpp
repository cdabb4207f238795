// rule: blocks
// memory: 134217728
// n: 33554432
constexpr long row = 4194304;
#ifdef CHANGED
constexpr long block = 16384;
#else
constexpr long block = row;
#endif
extern "C" void kernel(const float (*__restrict a)[row], const float *b, float (*__restrict c)[row], long n) {
  for (long first = 0; first < row; first += block)
    for (long j = 2; j < n / row - 2; ++j)
      for (long i = first; i < first + block; ++i)
        c[j][i] = a[j - 2][i] + 4 * a[j - 1][i] + 6 * a[j][i] + 4 * a[j + 1][i] + a[j + 2][i];
}
