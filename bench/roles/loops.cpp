// Loops as C++ writes them, of which bench/roles.py knows the answers; bench/roles.py says what the comments mean.
#include <algorithm>
#include <array>
#include <numeric>

namespace {

template <class T> struct Span {
  T *First, *Last;
  T *begin() const { return First; }
  T *end() const { return Last; }
};
struct Filter {
  const int *At;
  bool operator!=(const Filter &other) const { return At != other.At; }
  Filter &operator++() {
    ++At;
    return *this;
  }
  int operator*() const { return *At * 2; }
};
struct Filtered {
  const int *First, *Last;
  Filter begin() const { return {First}; }
  Filter end() const { return {Last}; }
};
template <class T, class F> inline void each(Span<T> span, F f) {
  for (T &value : span) // loop: each
    f(value);
}
template <class T> inline T dot(const T *a, const T *b, long n) {
  T s{};
  for (long i = 0; i < n; ++i) // loop: dot
    s += a[i] * b[i];
  return s;
}
template <int N, class T> inline void fill(T *a, T x) {
  for (int i = 0; i < N; ++i) // loop: fill
    a[i] = x + i;
}
template <class T> struct Matrix {
  T *Data;
  long Columns;
  T &operator()(long i, long j) const { return Data[i * Columns + j]; }
};
struct Sum {
  long Total = 0;
  void operator()(int x) { Total += x; }
};

} // namespace

extern "C" {

//: range_for(P0, n) ; n ; sizes=4 bytes=8
void range_for(float *a, long n) {
  for (float &x : Span<float>{a, a + n}) // loop
    x = x * 3 + 1;
}
//: range_sum(P0, n) ; n ; sizes=2
int range_sum(const short *a, long n) {
  int s = 0;
  for (short x : Span<const short>{a, a + n}) // loop
    s += x;
  return s;
}
//: own_iterator(P0, n) ; n ; sizes=4 bytes=4
int own_iterator(const int *a, long n) {
  int s = 0;
  for (int x : Filtered{a, a + n}) // loop
    s ^= x;
  return s;
}
//: lambda(P0, 3.0f, n) ; n ; sizes=4 bytes=8 at=each
void lambda(float *a, float k, long n) {
  each(Span<float>{a, a + n}, [k](float &x) { x *= k; });
}
//: lambda_sum(P0, n) ; n ; sizes=4 bytes=4 at=each
int lambda_sum(const int *a, long n) {
  int s = 0;
  each(Span<const int>{a, a + n}, [&s](const int &x) { s += x; });
  return s;
}
//: template_int(P0, P1, n) ; n ; sizes=4 bytes=8 at=dot
int template_int(const int *a, const int *b, long n) { return dot(a, b, n); }
//: template_double(P0, P1, n) ; n ; sizes=8 bytes=16 at=dot
double template_double(const double *a, const double *b, long n) { return dot(a, b, n); }
//: template_trips(P0) ; 777 ; trips=777 sizes=4 bytes=4 at=fill
void template_trips(int *a) { fill<777>(a, 5); }
//: template_few(P0) ; 4 ; trips=4 sizes=4 at=fill
void template_few(int *a) { fill<4>(a, 5); }
//: accumulate(P0, n) ; n ; sizes=4 bytes=4
int accumulate(const int *a, long n) {
  return std::accumulate(a, a + n, 0); // loop
}
//: transform(P0, P1, n) ; n ; sizes=8
//~ transform(A0, A1, n) ; n
void transform(double *a, const double *b, long n) {
  std::transform(b, b + n, a, [](double x) { return x * x + 1; }); // loop
}
//: inner(P0, P1, n) ; n ; sizes=8 bytes=16
long inner(const long *a, const long *b, long n) {
  return std::inner_product(a, a + n, b, 0l); // loop
}
//: for_each(P0, n) ; n ; sizes=4 bytes=4
long for_each(const int *a, long n) {
  return std::for_each(a, a + n, Sum()).Total; // loop
}
//: count_if(P0, n) ; n ; sizes=1
long count_if(const unsigned char *a, long n) {
  return std::count_if(a, a + n, [](unsigned char c) { return c > 9; }); // loop
}
//: array(P0) ; 512 ; trips=512 sizes=4 bytes=8
void array(float *p) {
  auto &a = *reinterpret_cast<std::array<float, 512> *>(p);
  for (auto &x : a) // loop
    x = x * x + 1;
}
//: matrix(P0, 5, n) ; 5 * n ; entries=5 sizes=8
void matrix(double *a, long rows, long n) {
  Matrix<double> m{a, n};
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < n; ++j) // loop
      m(i, j) *= 2;
}
//: simd(P0, P1, n) ; n ; sizes=8
void simd(double *a, const double *b, long n) {
#pragma omp simd
  for (long i = 0; i < n; ++i) // loop
    a[i] = b[i] * 3 + 1;
}
//: pragma_lambda(P0, n) ; n ; width=8 interleave=2 sizes=4
void pragma_lambda(float *a, long n) {
  auto f = [](float x) { return x * 0.5f; };
#pragma clang loop vectorize_width(8) interleave_count(2)
  for (long i = 0; i < n; ++i) // loop
    a[i] = f(a[i]);
}
//: members(P0, n) ; n ; sizes=4
void members(float *a, long n) {
  struct Pair {
    float First, Second;
  };
  auto *p = reinterpret_cast<Pair *>(a);
  for (Pair *i = p; i != p + n; ++i) // loop
    i->First += i->Second;
}
//: copies(P0, n) ; 3 * n ; entries=3 width=1 sizes=8
void copies(double *a, long n) {
  for (int t = 0; t < 3; ++t)
    for (long i = 1; i <= n; ++i) // loop
      a[i] = a[i] + a[i - 1] / 3;
}
}
