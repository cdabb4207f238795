// rule: stored-accumulator
struct Moments {
  double sum, squares;
  void add(const double *a, long n);
};
void Moments::add(const double *a, long n) {
#ifdef CHANGED
  double sums[8] = {sum, 0, 0, 0, squares, 0, 0, 0};
  for (long i = 0; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) {
      sums[k] += a[i + k];
      sums[4 + k] += a[i + k] * a[i + k];
    }
  sum = sums[0] + sums[1] + sums[2] + sums[3];
  squares = sums[4] + sums[5] + sums[6] + sums[7];
#else
  for (long i = 0; i < n; ++i) {
    sum += a[i];
    squares += a[i] * a[i];
  }
#endif
}
extern "C" void kernel(const double *a, const double *b, Moments *c, long n) { c->add(a, n); }
