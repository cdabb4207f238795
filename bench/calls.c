// Functions whose loops bench/measuring.py calls for real. A comment before each says how it is called:
//   //: CALL
// with `n` for the length (512 to 1024), and names of arrays far apart: P0 to P2 hold doubles between 1 and 2, F0 to F2
// floats, B0 to B2 bytes, K0 32-bit indices below 256 in no order, C0 counts, L0 a list of n / 4 nodes. Only the
// innermost main loop grows with `n`.
#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#define LOOP for (long i = 0; i < n; ++i)
typedef struct { float x, y, z, m; } Body;
typedef struct { double re, im; } Z;
typedef struct Node { struct Node *next; long value; long more[6]; } Node;

//: stencil3(P0, P1, n)
void stencil3(double *restrict a, const double *restrict b, long n) { for (long i = 1; i <= n; ++i) a[i] = 0.33 * (b[i - 1] + b[i] + b[i + 1]); }
//: stencil5(P0, P1, n / 4)
void stencil5(double *restrict a, const double *restrict b, long n) { for (long j = 1; j < 3; ++j) for (long i = 1; i <= n; ++i) a[j * n + i] = 0.2 * (b[j * n + i] + b[j * n + i - 1] + b[j * n + i + 1] + b[(j - 1) * n + i] + b[(j + 1) * n + i]); }
//: seidel(P0, n)
void seidel(double *a, long n) { for (long i = 1; i <= n; ++i) a[i] = 0.33 * (a[i - 1] + a[i] + a[i + 1]); }
//: heat(F0, F1, n / 4)
void heat(float *restrict a, const float *restrict b, int n) { for (int k = 1; k < 3; ++k) for (int i = 1; i <= n; ++i) a[k * n + i] = b[k * n + i] + 0.1f * (b[(k - 1) * n + i] - 2 * b[k * n + i] + b[(k + 1) * n + i]) + 0.2f * b[4 * n + i]; }
//: spmv_row(P0, P1, K0, n)
double spmv_row(const double *v, const double *x, const int *k, long n) { double s = 0; LOOP s += v[i] * x[k[i]]; return s; }
//: spmv_columns(P0, P1, P2, K0, n)
void spmv_columns(double *y, const double *v, const double *x, const int *k, long n) { LOOP y[k[i]] += v[i] * x[i & 255]; }
//: nbody(F0, F1, n)
float nbody(const Body *p, float *restrict f, long n) { float ax = 0, ay = 0; n /= 4; LOOP { float dx = p[i].x - 3, dy = p[i].y - 4, dz = p[i].z - 5, r = dx * dx + dy * dy + dz * dz + 0.01f, s = p[i].m / (r * sqrtf(r)); ax += dx * s; ay += dy * s; } f[0] = ax; return ay; }
//: nbody_push(F0, F1, n / 4)
void nbody_push(Body *restrict p, const Body *restrict v, long n) { LOOP { p[i].x += 0.1f * v[i].x; p[i].y += 0.1f * v[i].y; p[i].z += 0.1f * v[i].z; } }
//: fir4(F0, F1, F2, n)
void fir4(float *restrict y, const float *restrict x, const float *restrict h, long n) { LOOP y[i] = h[0] * x[i] + h[1] * x[i + 1] + h[2] * x[i + 2] + h[3] * x[i + 3]; }
//: fir_taps(P0, P1, n)
double fir_taps(const double *x, const double *h, long n) { double s = 0; LOOP s += x[n - i] * h[i]; return s; }
//: iir(P0, P1, n)
void iir(double *y, const double *x, long n) { double s = 0, t = 0; LOOP { double u = x[i] + 0.5 * s - 0.25 * t; t = s; s = u; y[i] = u; } }
//: grey(B0, B1, 2 * n)
void grey(uint8_t *restrict g, const uint8_t *restrict p, long n) { LOOP g[i] = (p[3 * i] * 77 + p[3 * i + 1] * 150 + p[3 * i + 2] * 29) >> 8; }
//: grey4(B0, B1, 2 * n)
void grey4(uint8_t *restrict g, const uint8_t *restrict p, long n) { LOOP g[i] = (p[4 * i] * 77 + p[4 * i + 1] * 150 + p[4 * i + 2] * 29) >> 8; }
//: blend(B0, B1, B2, 4 * n)
void blend(uint8_t *restrict d, const uint8_t *restrict a, const uint8_t *restrict b, long n) { LOOP d[i] = (a[i] * 3 + b[i] * 5) >> 3; }
//: floyd(F0, F1, n)
void floyd(float *d, const float *k, long n) { float w = 0.5f; LOOP { float s = w + k[i]; if (s < d[i]) d[i] = s; } }
//: floyd_int(C0, K0, n)
void floyd_int(int *d, const int *k, long n) { LOOP { int s = 7 + k[i]; d[i] = s < d[i] ? s : d[i]; } }
//: zmul(P0, P1, P2, n / 2)
void zmul(Z *restrict c, const Z *restrict a, const Z *restrict b, long n) { LOOP { c[i].re = a[i].re * b[i].re - a[i].im * b[i].im; c[i].im = a[i].re * b[i].im + a[i].im * b[i].re; } }
//: zdot(P0, P1, n / 2)
double zdot(const Z *a, const Z *b, long n) { double re = 0, im = 0; LOOP { re += a[i].re * b[i].re - a[i].im * b[i].im; im += a[i].re * b[i].im + a[i].im * b[i].re; } return re * im; }
//: mandel(P0, 0.3, 0.2, n)
double mandel(double *out, double cr, double ci, long n) { double x = 0, y = 0; LOOP { double t = x * x - y * y + cr; y = 2 * x * y + ci; x = t; } *out = y; return x; }
//: horner(P0, 0.5, n)
double horner(const double *c, double x, long n) { double s = 0; LOOP s = s * x + c[i]; return s; }
//: horner_many(P0, P1, n)
void horner_many(double *restrict a, const double *restrict x, long n) { LOOP a[i] = ((((x[i] * 2 + 3) * x[i] + 4) * x[i] + 5) * x[i] + 6) * x[i] + 7; }
//: norm2(P0, n)
double norm2(const double *a, long n) { double s = 0; LOOP s += a[i] * a[i]; return s; }
//: norm_max(F0, n)
float norm_max(const float *a, long n) { float m = 0; LOOP { float v = fabsf(a[i]); m = v > m ? v : m; } return m; }
//: norm1_bytes(B0, B1, 4 * n)
unsigned norm1_bytes(const uint8_t *a, const uint8_t *b, long n) { unsigned s = 0; LOOP { int d = a[i] - b[i]; s += d < 0 ? -d : d; } return s; }
//: histogram(C0, B0, n)
void histogram(int *h, const uint8_t *a, long n) { LOOP h[a[i]]++; }
//: histogram_int(C0, K0, n)
void histogram_int(int *h, const int *a, long n) { LOOP h[a[i]]++; }
//: matvec_row(P0, P1, P2, n)
void matvec_row(double *restrict y, const double *restrict a, const double *restrict x, long n) { double s = 0; LOOP s += a[i] * x[i]; y[0] = s; }
//: matvec_column(P0, P1, P2, n / 2)
void matvec_column(double *restrict y, const double *restrict a, const double *restrict x, long n) { double p = x[0], q = x[1]; LOOP y[i] += a[i] * p + a[n + i] * q; }
//: column_sum(P0, n / 4, 9)
double column_sum(const double *a, long n, long stride) { double s = 0; LOOP s += a[i * stride]; return s; }
//: column_scale(P0, 1.01, n / 4, 9)
void column_scale(double *a, double f, long n, long stride) { LOOP a[i * stride] *= f; }
//: axpy_strided(F0, F1, 2.0f, n / 4, 9, 11)
void axpy_strided(float *y, const float *x, float a, long n, long incx, long incy) { LOOP y[i * incy] += a * x[i * incx]; }
//: transpose(P0, P1, n / 4, 9)
void transpose(double *restrict a, const double *restrict b, long n, long stride) { LOOP a[i] = b[i * stride]; }
//: strlen_by_byte(B0, n)
size_t strlen_by_byte(const char *s, long n) { size_t k = 0; ((char *)s)[n] = 0; while (s[k]) { ++k; asm volatile("" : "+r"(k)); } ((char *)s)[n] = 1; return k; }
//: count_spaces(B0, 4 * n)
long count_spaces(const char *s, long n) { long c = 0; LOOP c += s[i] == 7; return c; }
//: scan_for(K0, n)
long scan_for(int *a, long n) { int old = a[n]; long i = 0; a[n] = 7777; while (a[i] != 7777) { ++i; asm volatile("" : "+r"(i)); } a[n] = old; return i; }
//: upper(B0, 2 * n)
void upper(char *s, long n) { LOOP { char c = s[i]; if (c >= 'a' && c <= 'z') c -= 32; s[i] = c; } }
//: list_sum(L0, n / 4)
long list_sum(const Node *p, long n) { long s = 0; while (p) { s += p->value; p = p->next; } return s; }
//: list_add(L0, n / 4)
void list_add(Node *p, long n) { while (p) { p->value += 3; p = p->next; } }
//: largest_place(P0, n)
long largest_place(const double *a, long n) { long best = 0; for (long i = 1; i < n; ++i) if (a[i] > a[best] + 9) best = i; return best; }
//: positive_sum(P0, n)
double positive_sum(const double *a, long n) { double s = 0; LOOP { if (a[i] > 0) { s += a[i] * 3; asm volatile("" ::: "memory"); } else { s -= 1; asm volatile("nop"); } } return s; }
//: clamp(F0, n)
void clamp(float *a, long n) { LOOP a[i] = a[i] < 0 ? 0 : a[i] > 1 ? 1 : a[i]; }
//: prefix(P0, n)
void prefix(double *a, long n) { for (long i = 1; i <= n; ++i) a[i] = 0.5 * a[i - 1] + a[i]; }
//: reversed(P0, P1, n)
void reversed(double *restrict a, const double *restrict b, long n) { LOOP a[n - 1 - i] = b[i] * 2; }
//: copy_down(P0, n)
void copy_down(double *a, long n) { LOOP a[i] = a[i + 4] + 1.0; }
//: adler(B0, n)
unsigned adler(const uint8_t *s, long n) { unsigned a = 1, b = 0; LOOP { a += s[i]; b += a; } return a ^ b; }
//: fnv(B0, n)
uint64_t fnv(const uint8_t *s, long n) { uint64_t h = 14695981039346656037u; LOOP h = (h ^ s[i]) * 1099511628211u; return h; }
//: lookup(B0, B1, B2, n)
void lookup(uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict table, long n) { LOOP a[i] = table[b[i]]; }
//: divide(P0, P1, P2, n)
void divide(double *restrict a, const double *restrict b, const double *restrict c, long n) { LOOP a[i] = b[i] / c[i]; }
//: widen(P0, F1, n)
void widen(double *restrict a, const float *restrict b, long n) { LOOP a[i] = b[i] * 2.0; }
//: triad(P0, P1, P2, 2.0, n)
void triad(double *a, const double *b, const double *c, double s, long n) { LOOP a[i] = b[i] + s * c[i]; }
//: countdown(P0, P1, n)
double countdown(const double *a, const double *b, long n) { double s = 0; for (long i = n - 1; i >= 0; --i) s += a[i] * b[i]; return s; }
//: by_two(P0, n)
double by_two(const double *a, long n) { double s = 0; for (long i = 0; i < n; i += 2) s += a[i] * a[i + 1]; return s; }
//: lcg(n)
unsigned lcg(long n) { unsigned x = 1; LOOP x = x * 1664525u + 1013904223u; return x; }
