// Loops in C of which bench/roles.py knows the answers; bench/roles.py says what the comments mean.
#include <stddef.h>
#include <stdint.h>
typedef struct Node { struct Node *next; long value; } Node;
typedef struct { float x, y, z; } Point;

// What pragmas settle for a clang.

//: forced(P0, P1, n) ; n ; width=4 interleave=2 sizes=4 bytes=12
void forced(float *restrict a, const float *restrict b, long n) {
#pragma clang loop vectorize_width(4) interleave_count(2)
  for (long i = 0; i < n; ++i) // loop
    a[i] += b[i];
}
//: forced_wide(P0, P1, n) ; n ; width=16 interleave=1 sizes=4 bytes=12
void forced_wide(int *restrict a, const int *restrict b, long n) {
#pragma clang loop vectorize_width(16) interleave_count(1) unroll(disable)
  for (long i = 0; i < n; ++i) // loop
    a[i] += b[i] ^ 3;
}
//: forced_check(P0, P1, n) ; n ; width=4 interleave=1 sizes=8
//~ forced_check(A0, A1, n) ; n
void forced_check(double *a, const double *b, long n) {
#pragma clang loop vectorize_width(4) interleave_count(1)
  for (long i = 0; i < n; ++i) // loop
    a[i] = b[i] * 0.25;
}
//: side_by_side(P0, n) ; n ; width=1 interleave=4 sizes=4
unsigned side_by_side(const unsigned *a, long n) {
  unsigned s = 0;
#pragma clang loop vectorize_width(1) interleave_count(4)
  for (long i = 0; i < n; ++i) // loop
    s += a[i] * 7;
  return s;
}
//: no_vectors(P0, P1, n) ; n ; width=1 interleave=1 unroll=1 sizes=8 bytes=16
void no_vectors(double *restrict a, const double *restrict b, long n) {
#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (long i = 0; i < n; ++i) // loop
    a[i] = b[i] + 1.5;
}
//: unrolled4(P0, n) ; n ; width=1 interleave=1 unroll=4 sizes=8 bytes=8
double unrolled4(const double *a, long n) {
  double s = 1;
#pragma clang loop unroll_count(4)
  for (long i = 0; i < n; ++i) // loop
    s = s * 0.5 + a[i];
  return s;
}
//: unrolled_odd(P0, n) ; n ; width=1 interleave=1 sizes=8
double unrolled_odd(const double *a, long n) {
  double s = 1;
#pragma clang loop vectorize(disable) unroll_count(3)
  for (long i = 0; i < n; ++i) // loop
    s = s * 0.5 + a[i];
  return s;
}
//: forced_twice(P0, P1, n) ; n ; width=4 interleave=4 sizes=8
void forced_twice(double *restrict a, const double *restrict b, long n) {
#pragma clang loop vectorize_width(4) interleave_count(4)
  for (long i = 0; i < n; ++i) // loop
    a[i] = a[i] * b[i] + 2;
}

// Constant trip counts.

//: constant(P0, P1) ; 4096 ; trips=4096 sizes=4 bytes=12
void constant(float *restrict a, const float *restrict b) {
  for (int i = 0; i < 4096; ++i) // loop
    a[i] += b[i];
}
//: constant_odd(P0, P1) ; 1003 ; trips=1003 sizes=4 bytes=12
void constant_odd(float *restrict a, const float *restrict b) {
  for (int i = 0; i < 1003; ++i) // loop
    a[i] += b[i];
}
//: constant_chain(P0) ; 100 ; trips=100 sizes=8
double constant_chain(const double *a) {
  double s = 0;
  for (int i = 0; i < 100; ++i) // loop
    s = s * 0.5 + a[i];
  return s;
}
//: tiny(P0) ; 3 ; trips=3 sizes=8
double tiny(const double *a) {
  double s = 0;
  for (int i = 0; i < 3; ++i) // loop
    s = s * 0.5 + a[i];
  return s;
}
//: rows(P0, P1, n) ; 500 * n ; trips=500 entries=n sizes=8
void rows(double *restrict a, const double *restrict b, long n) {
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < 500; ++i) // loop
      a[j] = a[j] * 0.5 + b[i];
}
//: tile(P0, P1, n) ; 64 * n ; trips=64 entries=n sizes=4
void tile(float *restrict a, const float *restrict b, long n) {
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < 64; ++i) // loop
      a[64 * j + i] *= b[i];
}

// Nests.

//: nest(P0, P1, P2, n / 4) ; 4 * (n / 4) ; entries=4 sizes=8
void nest(double *restrict c, const double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < 4; ++i) {
    double s = 0;
    for (long j = 0; j < n; ++j) // loop
      s += a[n * i + j] * b[j];
    c[i] = s;
  }
}
//: stencil(P0, P1, n) ; 6 * n ; entries=6 sizes=8
void stencil(double *restrict a, const double *restrict b, long n) {
  for (long j = 1; j < 7; ++j)
    for (long i = 1; i <= n; ++i) // loop
      a[j * 1300 + i] = b[j * 1300 + i - 1] + b[j * 1300 + i + 1] + b[(j - 1) * 1300 + i] + b[(j + 1) * 1300 + i];
}
//: outer_left(P0, P1, P2, 20, n) ; 20 * n ; entries=20
//: outer_left(P0, P1, P2, n, 0) ; 0
void outer_left(float *restrict c, const float *restrict a, const float *restrict d, long n, long m) {
  for (long i = 0; i < n; ++i) {
    float s = 0;
#pragma clang loop unroll(disable)
    for (long j = 0; j < m; ++j) // loop
      s += a[i * m + j];
    c[i] = s + d[i];
  }
}
//: triangle(P0, 60) ; 1770 ; sizes=8
void triangle(double *a, long n) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < i; ++j) // loop
      a[i * n + j] *= 0.5;
}

// Versions.

//: overlap(P0, P1, n) ; n ; sizes=4 bytes=8
//~ overlap(A0, A1, n) ; n
void overlap(float *a, const float *b, long n) {
  for (long i = 0; i < n; ++i) // loop
    a[i] = b[i] * 3;
}
//: three_arrays(P0, P1, P2, n) ; n ; sizes=8 bytes=24
//~ three_arrays(A0, A1, A2, n) ; n
void three_arrays(double *a, const double *b, const double *c, long n) {
  for (long i = 0; i < n; ++i) // loop
    a[i] = b[i] + c[i];
}
//: carried(P0, P1, P2, n) ; n ; sizes=4
//~ carried(A0, A1, A2, n) ; n
void carried(float *a, const float *b, float *c, long n) {
  for (long i = 0; i < n; ++i) { // loop
    a[i + 1] = a[i] + b[i];
    c[i] = a[i + 1] * 2;
  }
}
//: steps(P0, P1, n, 1) ; n ; sizes=8
//~ steps(P0, P1, n, 3) ; n
void steps(double *restrict a, const double *restrict b, long n, long s) {
  for (long i = 0; i < n; ++i) // loop
    a[i] += b[i * s];
}
//: switched(P0, n, 0) ; n ; sizes=4
//: switched(P0, n, 1) ; n
void switched(int *a, long n, int way) {
  for (long i = 0; i < n; ++i) { // loop
    if (way)
      a[i] *= 3;
    else
      a[i] += 5;
  }
}

// Peeled: the first iteration is another one.

//: peeled(P0, P1, n) ; n ; sizes=8
double peeled(const double *a, const double *b, long n) {
  double last = 0, s = 0;
  for (long i = 0; i < n; ++i) { // loop
    s = s * b[i] + last;
    last = a[i];
  }
  return s;
}
//: first_other(P0, P1, n) ; n ; sizes=4
void first_other(float *restrict a, const float *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop
    a[i] = i == 0 ? b[i] * 2 : b[i] / 3;
}

// Reductions and conditions.

//: sum(P0, n) ; n ; sizes=4 bytes=4
int sum(const int *a, long n) {
  int s = 0;
  for (long i = 0; i < n; ++i) // loop
    s += a[i];
  return s;
}
//: sum_ordered(P0, n) ; n ; sizes=4 bytes=4
float sum_ordered(const float *a, long n) {
  float s = 0;
  for (long i = 0; i < n; ++i) // loop
    s += a[i];
  return s;
}
//: largest(P0, n) ; n ; sizes=2 bytes=2
short largest(const short *a, long n) {
  short m = 0;
  for (long i = 0; i < n; ++i) // loop
    m = a[i] > m ? a[i] : m;
  return m;
}
//: mixed(P0, P1, n) ; n ; sizes=1,8
long mixed(const int8_t *a, const long *b, long n) {
  long s = 0;
  for (long i = 0; i < n; ++i) // loop
    s += a[i] * b[i];
  return s;
}
//: where_positive(P0, P1, n) ; n ; sizes=4
void where_positive(float *restrict a, const float *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop
    if (b[i] > 3)
      a[i] = b[i] + 1;
}
//: reduce_simd(P0, P1, n) ; n ; sizes=4 bytes=8
float reduce_simd(const float *a, const float *b, long n) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (long i = 0; i < n; ++i) // loop
    s += a[i] * b[i];
  return s;
}
//: simd_eight(P0, P1, n) ; n ; width=8 sizes=4
void simd_eight(float *a, const float *b, long n) {
#pragma omp simd simdlen(8)
  for (long i = 0; i < n; ++i) // loop
    a[i] = b[i] * b[i];
}

// Ways through memory.

//: every_third(P0, n) ; (n + 2) / 3 ; sizes=4
long every_third(const int *a, long n) {
  long s = 0;
  for (long i = 0; i < n; i += 3) // loop
    s += a[i];
  return s;
}
//: backwards(P0, P1, n) ; n ; sizes=4 bytes=8
void backwards(int *restrict a, const int *restrict b, long n) {
  for (long i = n - 1; i >= 0; --i) // loop
    a[i] = b[i] + 9;
}
//: turned(P0, P1, n) ; n ; sizes=8 bytes=16
void turned(double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop
    a[n - 1 - i] = b[i] * 2;
}
//: pick(P0, P1, P2, n) ; n ; sizes=1,8
void pick(double *restrict r, const double *restrict a, const uint8_t *restrict k, long n) {
  for (long i = 0; i < n; ++i) // loop
    r[i] = a[k[i]];
}
//: fields(P0, P1, n) ; n ; sizes=4
void fields(float *restrict r, const Point *restrict p, long n) {
  for (long i = 0; i < n; ++i) // loop
    r[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}
//: counts(P0, P1, n) ; n ; sizes=1,4
void counts(int *h, const uint8_t *a, long n) {
  for (long i = 0; i < n; ++i) // loop
    h[a[i]]++;
}

// Not to be vectorised.

//: prefix(P0, n) ; n ; width=1 sizes=8
void prefix(double *a, long n) {
  for (long i = 1; i <= n; ++i) // loop
    a[i] += a[i - 1];
}
//: generator(n) ; n ; width=1
unsigned generator(long n) {
  unsigned x = 1;
  for (long i = 0; i < n; ++i) // loop
    x = (x ^ x >> 7) * 1664525u + 1013904223u;
  return x;
}
//: list(P5) ; n ; width=1 sizes=8 bytes=16
long list(const Node *p) {
  long s = 0;
  for (; p; p = p->next) // loop
    s += p->value;
  return s;
}
//: search(P4, 77, n + 1) ; n + 1 ; width=1 sizes=4 bytes=4
long search(const int *a, int what, long n) {
  for (long i = 0; i < n; ++i) // loop
    if (a[i] == what)
      return i;
  return -1;
}
static inline void add(int *restrict a, const int *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop: add
    a[i] += b[i];
}
//: called(P0, P1, n) ; n ; sizes=4 bytes=12 at=add
void called(int *restrict a, const int *restrict b, long n) { add(a, b, n); }
