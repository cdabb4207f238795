template <typename T> [[incc::analyze(name(total) expect(cycles < 1))]] T sum(T *a, int n) {
  T s = 0;
  for (int i = 0; i < n; ++i)
    s += a[i];
  return s;
}
float f(float *a, int n) { return sum(a, n); }
void g(float *a, int n) {
#pragma incc analyze name(scaled) expect(cycles < 99)
  for (int i = 0; i < n; ++i)
    a[i] *= 2;
  for (int i = 0; i < n; ++i)
    a[i] += a[i + 1];
}
