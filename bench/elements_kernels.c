// Loops of which bench/elements.py knows how often they run in the source. One innermost loop a function; a comment
// before each function says how it is called and how many iterations that is:
//   //: CALL ; ITERATIONS
// with `n` for the length, and P0, P1 … for arrays that do not overlap. A call with A0, A1 … passes arrays that do.
#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#define LOOP for (long i = 0; i < n; ++i)
typedef struct { float x, y, z; } V3;
typedef struct { float x, y, z, w; } V4;
typedef struct { double re, im; } Z;
typedef struct { int key; double value; } Record;
typedef struct Node { struct Node *next; long value; } Node;
typedef struct { unsigned char r, g, b, a; } Pixel;

//: dot(P0, P1, n) ; n
double dot(const double *a, const double *b, long n) { double s = 0; LOOP s += a[i] * b[i]; return s; }
//: dotf(P0, P1, n) ; n
float dotf(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; ++i) s += a[i] * b[i]; return s; }
//: triad(P0, P1, P2, 2.0, n) ; n
//: triad(A0, A1, A2, 2.0, n) ; n
void triad(double *a, const double *b, const double *c, double s, long n) { LOOP a[i] = b[i] + s * c[i]; }
//: triad_r(P0, P1, P2, 2.0, n) ; n
void triad_r(double *restrict a, const double *restrict b, const double *restrict c, double s, long n) { LOOP a[i] = b[i] + s * c[i]; }
//: saxpy(P0, P1, 2.0f, n) ; n
//: saxpy(A0, A1, 2.0f, n) ; n
void saxpy(float *y, const float *x, float a, size_t n) { for (size_t i = 0; i < n; ++i) y[i] += a * x[i]; }
//: saxpy_inc(P0, P1, 2.0f, n, 2, 3) ; n
void saxpy_inc(float *y, const float *x, float a, long n, long incx, long incy) { LOOP y[i * incy] += a * x[i * incx]; }
//: scale(P0, 3.0, n) ; n
void scale(double *a, double s, long n) { LOOP a[i] *= s; }
//: widen(P0, P1, n) ; n
void widen(double *restrict a, const float *restrict b, long n) { LOOP a[i] = b[i] * 2.0; }
//: narrow(P0, P1, n) ; n
void narrow(float *restrict a, const double *restrict b, long n) { LOOP a[i] = (float)(b[i] + 1.0); }
//: sum_mixed(P0, n) ; n
double sum_mixed(const float *a, long n) { double s = 0; LOOP s += a[i]; return s; }
//: sum_bytes(P0, n) ; n
int sum_bytes(const uint8_t *a, long n) { int s = 0; LOOP s += a[i]; return s; }
//: sum_ints(P0, n) ; n
long sum_ints(const int *a, int n) { long s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }
//: sum_int(P0, n) ; n
int sum_int(const int *a, int n) { int s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }
//: sum_doubles(P0, n) ; n
double sum_doubles(const double *a, long n) { double s = 0; LOOP s += a[i]; return s; }
//: sum_in_order(P0, n) ; n
double sum_in_order(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i)
    s += a[i];
  return s;
}
//: bytes_to_float(P0, P1, n) ; n
void bytes_to_float(float *restrict a, const uint8_t *restrict b, long n) { LOOP a[i] = b[i] * 0.5f; }
//: float_to_int(P0, P1, n) ; n
void float_to_int(int *restrict a, const float *restrict b, long n) { LOOP a[i] = (int)b[i]; }
//: int_to_double(P0, P1, n) ; n
void int_to_double(double *restrict a, const int *restrict b, long n) { LOOP a[i] = b[i]; }
//: every_second(P0, n) ; n
double every_second(const double *a, long n) { double s = 0; LOOP s += a[2 * i]; return s; }
//: norm3(P0, P1, n) ; n
void norm3(float *restrict r, const V3 *restrict p, long n) { LOOP r[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z; }
//: sum3(P0, n) ; n
float sum3(const V3 *p, long n) { float s = 0; LOOP s += p[i].x + p[i].y + p[i].z; return s; }
//: scale4(P0, 2.0f, n) ; n
void scale4(V4 *p, float s, long n) { LOOP { p[i].x *= s; p[i].y *= s; p[i].z *= s; p[i].w *= s; } }
//: move3(P0, P1, 2.0f, n) ; n
void move3(V3 *restrict p, const V3 *restrict v, float t, long n) { LOOP { p[i].x += v[i].x * t; p[i].y += v[i].y * t; p[i].z += v[i].z * t; } }
//: sum_x(P0, n) ; n
float sum_x(const V4 *p, long n) { float s = 0; LOOP s += p[i].x; return s; }
//: sum_record(P0, n) ; n
double sum_record(const Record *p, long n) { double s = 0; LOOP s += p[i].value * p[i].key; return s; }
//: zmul(P0, P1, P2, n) ; n
void zmul(Z *restrict c, const Z *restrict a, const Z *restrict b, long n) { LOOP { c[i].re = a[i].re * b[i].re - a[i].im * b[i].im; c[i].im = a[i].re * b[i].im + a[i].im * b[i].re; } }
//: zadd(P0, P1, P2, n) ; n
void zadd(Z *restrict c, const Z *restrict a, const Z *restrict b, long n) { LOOP { c[i].re = a[i].re + b[i].re; c[i].im = a[i].im + b[i].im; } }
//: zabs2(P0, P1, n) ; n
void zabs2(double *restrict r, const Z *restrict a, long n) { LOOP r[i] = a[i].re * a[i].re + a[i].im * a[i].im; }
//: cdot(P0, P1, n) ; n
float cdot(const float complex *a, const float complex *b, long n) { float complex s = 0; LOOP s += a[i] * b[i]; return crealf(s); }
//: jacobi1(P0, P1, n) ; n
void jacobi1(double *restrict a, const double *restrict b, long n) { for (long i = 1; i <= n; ++i) a[i] = 0.33 * (b[i - 1] + b[i] + b[i + 1]); }
//: jacobi2(P0, P1, n) ; 3 * n
void jacobi2(double *restrict a, const double *restrict b, long n) { for (long j = 1; j < 4; ++j) for (long i = 1; i <= n; ++i) a[j * 1000 + i] = 0.25 * (b[j * 1000 + i - 1] + b[j * 1000 + i + 1] + b[(j - 1) * 1000 + i] + b[(j + 1) * 1000 + i]); }
//: prefix(P0, n) ; n
void prefix(double *a, long n) { for (long i = 1; i <= n; ++i) a[i] += a[i - 1]; }
//: hist(P0, P1, n) ; n
void hist(int *h, const uint8_t *a, long n) { LOOP h[a[i]]++; }
//: gather(P0, P1, P2, n) ; n
void gather(double *restrict r, const double *restrict a, const int *restrict k, long n) { LOOP r[i] = a[k[i] & 255]; }
//: sum_gather(P0, P1, n) ; n
float sum_gather(const float *a, const unsigned *k, long n) { float s = 0; LOOP s += a[k[i] & 255]; return s; }
//: reversed(P0, P1, n) ; n
void reversed(double *restrict a, const double *restrict b, long n) { LOOP a[n - 1 - i] = b[i] * 2; }
//: down(P0, n) ; n
void down(float *a, long n) { for (long i = n - 1; i >= 0; --i) a[i] += 1.0f; }
//: pointers(P0, P1, (const double *)P1 + n) ; n
double pointers(const double *a, const double *b, const double *end) { double s = 0; while (b != end) s += *a++ * *b++; return s; }
//: length(P3) ; n
size_t length(const char *s) { size_t k = 0; while (*s++) { ++k; asm volatile("" : "+r"(k)); } return k; }
//: find(P4, 77, n + 1) ; n + 1
long find(const int *a, int what, long n) { LOOP if (a[i] == what) return i; return -1; }
//: upper(P0, n) ; n
void upper(char *s, long n) { LOOP if (s[i] >= 'a' && s[i] <= 'z') s[i] -= 32; }
//: clamp(P0, n) ; n
void clamp(float *a, long n) { LOOP a[i] = a[i] < 0 ? 0 : a[i] > 1 ? 1 : a[i]; }
//: largest(P0, n) ; n
float largest(const float *a, long n) { float m = a[0]; LOOP m = a[i] > m ? a[i] : m; return m; }
//: smallest(P0, n) ; n
int smallest(const int *a, long n) { int m = a[0]; LOOP m = a[i] < m ? a[i] : m; return m; }
//: positive(P0, P1, n) ; n
void positive(double *restrict a, const double *restrict b, long n) { LOOP if (b[i] > 0) a[i] = b[i] * b[i]; }
//: roots(P0, P1, n) ; n
void roots(double *restrict a, const double *restrict b, long n) { LOOP a[i] = 1 / sqrt(b[i]); }
//: count(P0, n) ; n
int count(const short *a, long n) { int c = 0; LOOP c += a[i] > 5; return c; }
//: xorsum(P0, n) ; n
uint64_t xorsum(const uint64_t *a, long n) { uint64_t s = 0; LOOP s ^= a[i]; return s; }
//: add_bytes(P0, P1, n) ; n
void add_bytes(uint8_t *a, const uint8_t *b, long n) { LOOP a[i] += b[i]; }
//: mul_shorts(P0, P1, n) ; n
void mul_shorts(short *restrict a, const short *restrict b, long n) { LOOP a[i] = a[i] * b[i]; }
//: grey(P0, P1, n) ; n
void grey(uint8_t *restrict g, const Pixel *restrict p, long n) { LOOP g[i] = (p[i].r * 77 + p[i].g * 150 + p[i].b * 29) >> 8; }
//: chase(P5, n) ; n
long chase(const Node *p, long n) { long s = 0; while (p) { s += p->value; p = p->next; } return s; }
//: matmul(P0, P1, P2, n) ; 2 * n
void matmul(double *restrict c, const double *restrict a, const double *restrict b, long n) { for (long k = 0; k < 2; ++k) for (long j = 0; j < n; ++j) c[j] += a[k] * b[k * n + j]; }
//: matmat(P0, P1, P2, n / 8) ; 8 * (n / 8)
void matmat(double *restrict c, const double *restrict a, const double *restrict b, int n) { for (int k = 0; k < 8; ++k) for (int j = 0; j < n; ++j) c[j] += a[k] * b[k * n + j]; }
//: column(P0, P1, n) ; n
double column(const double *a, const double *b, long n) { double s = 0; LOOP s += a[i] * b[i * 16]; return s; }
//: matvec(P0, P1, P2, n) ; 3 * n
void matvec(float *restrict y, const float *restrict a, const float *restrict x, long n) { for (long j = 0; j < 3; ++j) { float s = 0; LOOP s += a[j * n + i] * x[i]; y[j] = s; } }
//: poly(P0, P1, n) ; n
void poly(double *restrict a, const double *restrict x, long n) { LOOP a[i] = ((x[i] * 2 + 3) * x[i] + 4) * x[i] + 5; }
//: horner(P0, 0.5, n) ; n
double horner(const double *c, double x, long n) { double s = 0; LOOP s = s * x + c[i]; return s; }
//: iterate(0.5, n) ; n
double iterate(double x, long n) { LOOP x = x * x - 0.75; return x; }
//: lcg(n) ; n
unsigned lcg(long n) { unsigned x = 1; LOOP x = x * 1664525u + 1013904223u; return x; }
//: copy_ints(P0, P1, n) ; n
void copy_ints(int *a, const int *b, long n) { LOOP { a[i] = b[i]; asm volatile(""); } }
//: indices(P0, n) ; n
void indices(int *a, int n) { for (int i = 0; i < n; ++i) a[i] = 3 * i; }
//: ramp(P0, 0.1, n) ; n
void ramp(double *a, double h, int n) { for (int i = 0; i < n; ++i) a[i] = i * h; }
//: butterfly(P0, P1, n) ; n
//: butterfly(A0, A1, n) ; n
void butterfly(double *a, double *b, long n) { LOOP { double s = a[i] + b[i], d = a[i] - b[i]; a[i] = s; b[i] = d; } }
//: two_streams(P0, P1, P2, n) ; n
void two_streams(double *restrict a, float *restrict f, const int *restrict k, long n) { LOOP { a[i] += k[i]; f[i] = f[i] * k[i]; } }
//: by_two(P0, n) ; (n + 1) / 2
double by_two(const double *a, long n) { double s = 0; for (long i = 0; i < n; i += 2) s += a[i] * a[i + 1]; return s; }
//: hand_unrolled(P0, P1, n) ; n / 4
void hand_unrolled(float *restrict a, const float *restrict b, long n) { for (long i = 0; i + 3 < n; i += 4) { a[i] = b[i] * 2; a[i + 1] = b[i + 1] * 2; a[i + 2] = b[i + 2] * 2; a[i + 3] = b[i + 3] * 2; } }
