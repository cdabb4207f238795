// rule: stored-accumulator
// options: -O3 -ffast-math
struct Total {
  double weight, value;
};
extern "C" void kernel(const double *a, const double *b, Total *total, long n) {
#ifdef CHANGED
  Total t = *total;
  for (long i = 0; i < n; ++i)
    t.value += a[i] * b[i];
  *total = t;
#else
  for (long i = 0; i < n; ++i)
    total->value += a[i] * b[i];
#endif
}
