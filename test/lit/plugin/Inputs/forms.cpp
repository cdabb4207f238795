// Loops as C++ writes them, and nests. No headers: for any standard library.
template <class T> struct Range {
  T *First, *Last;
  T *begin() const { return First; }
  T *end() const { return Last; }
};
template <class T, class F> inline void each(Range<T> range, F f) {
  for (T &value : range)
    f(value);
}
extern "C" {
void lambda(Range<float> v, float k) {
  each(v, [k](float &x) { x *= k; });
}
float simd(const float *a, int n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    sum += a[i];
  return sum;
}
// Where the inner loop has nothing to do, what is left of the outer one is a loop of its own.
void outer(float *c, const float *a, const float *d, int n, int m) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
#pragma clang loop unroll(disable)
    for (int j = 0; j < m; ++j)
      sum += a[i * m + j];
    c[i] = sum + d[i];
  }
}
// Each way of the switch has a loop of its own, which is as much a main loop as the others.
void unswitched(int *a, int n, int way) {
  for (int i = 0; i < n; ++i)
    switch (way) {
    case 0:
      a[i]++;
      break;
    case 1:
      a[i] *= 3;
      break;
    }
}
void triangle(double *a, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      a[i * n + j] *= 0.5;
}
long every_third(const int *a, long n) {
  long sum = 0;
  for (long i = 0; i < n; i += 3)
    sum += a[i];
  return sum;
}
int search(const int *a, int n, int x) {
  for (int i = 0; i < n; ++i)
    if (a[i] == x)
      return i;
  return -1;
}
// An outer loop that is unrolled completely leaves copies of the inner one, each a loop with a rest of its own.
void copies(double *a, int n) {
  for (int t = 0; t < 3; ++t)
    for (int i = 1; i < n; ++i)
      a[i] = a[i] + a[i - 1] / 3;
}
}
