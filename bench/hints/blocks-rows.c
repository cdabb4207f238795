// rule: blocks
// memory: 134217728
// n: 16777216
#define ROW 2097152L
#ifdef CHANGED
#define BLOCK 8192L
#else
#define BLOCK ROW
#endif
void kernel(const double (*restrict a)[ROW], const double *b, double (*restrict c)[ROW], long n) {
  for (long first = 1; first < ROW - 1; first += BLOCK) {
    long last = first + BLOCK < ROW - 1 ? first + BLOCK : ROW - 1;
    for (long j = 1; j < n / ROW - 1; ++j)
      for (long i = first; i < last; ++i)
        c[j][i] = 0.25 * (a[j][i - 1] + a[j][i + 1] + a[j - 1][i] + a[j + 1][i]);
  }
}
