// rule: blocks
// memory: 134217728
// n: 16777216
#define ROW 1280L
#ifdef CHANGED
#define BLOCK 12L
#else
#define BLOCK ROW
#endif
void kernel(const double (*restrict a)[ROW][ROW], const double *b, double (*restrict c)[ROW][ROW], long n) {
  for (long first = 1; first < ROW - 1; first += BLOCK) {
    long last = first + BLOCK < ROW - 1 ? first + BLOCK : ROW - 1;
    for (long k = 1; k < n / ROW / ROW - 1; ++k)
      for (long j = first; j < last; ++j)
        for (long i = 1; i < ROW - 1; ++i)
          c[k][j][i] = a[k][j][i] + a[k][j][i - 1] + a[k][j][i + 1] + a[k][j - 1][i] + a[k][j + 1][i] + a[k - 1][j][i]
                       + a[k + 1][j][i];
  }
}
