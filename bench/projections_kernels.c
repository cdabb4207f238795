/* Loops for bench/projections.py: each function has one, whose iterations a compiler may do in vectors. */

#include <math.h>

#define D double *restrict
#define CD const double *restrict
#define CF const float *restrict
#define LOOP for (long i = 0; i < n; ++i)

double dot(CD a, CD b, long n) { double s = 0; LOOP s += a[i] * b[i]; return s; }
float dotf(CF a, CF b, long n) { float s = 0; LOOP s += a[i] * b[i]; return s; }
double sum(CD a, long n) { double s = 0; LOOP s += a[i]; return s; }
double norm2(CD a, long n) { double s = 0; LOOP s += a[i] * a[i]; return s; }
double largest(CD a, long n) { double s = 0; LOOP s = a[i] > s ? a[i] : s; return s; }
double absolute(CD a, long n) { double s = 0; LOOP s += fabs(a[i]); return s; }
double distance(CD a, CD b, long n) { double s = 0; LOOP s += (a[i] - b[i]) * (a[i] - b[i]); return s; }
double product3(CD a, CD b, CD c, long n) { double s = 0; LOOP s += a[i] * b[i] * c[i]; return s; }
void axpy(D y, CD x, double a, long n) { LOOP y[i] += a * x[i]; }
void axpyf(float *restrict y, CF x, float a, long n) { LOOP y[i] += a * x[i]; }
void triad(D z, CD x, CD y, double a, long n) { LOOP z[i] = x[i] + a * y[i]; }
void scale(D y, CD x, double a, long n) { LOOP y[i] = a * x[i]; }
void add(D z, CD x, CD y, long n) { LOOP z[i] = x[i] + y[i]; }
void addf(float *restrict z, CF x, CF y, long n) { LOOP z[i] = x[i] + y[i]; }
void multiply(D z, CD x, CD y, long n) { LOOP z[i] = x[i] * y[i]; }
void quotient(D z, CD x, CD y, long n) { LOOP z[i] = x[i] / y[i]; }
void root(D y, CD x, long n) { LOOP y[i] = __builtin_sqrt(x[i]); }
void hypotenuse(D z, CD x, CD y, long n) { LOOP z[i] = __builtin_sqrt(x[i] * x[i] + y[i] * y[i]); }
void mix(D z, CD x, CD y, double a, long n) { LOOP z[i] = x[i] + a * (y[i] - x[i]); }
void update(D z, CD x, CD y, double a, double b, long n) { LOOP z[i] = a * z[i] + b * x[i] * y[i]; }
void stencil3(D y, CD x, double a, double b, long n) { LOOP y[i] = a * x[i] + b * (x[i + 1] + x[i + 2]); }
void stencil5(D y, CD x, double a, double b, double c, long n) {
  LOOP y[i] = a * x[i + 2] + b * (x[i + 1] + x[i + 3]) + c * (x[i] + x[i + 4]);
}
void cubic(D y, CD x, double a, double b, double c, double d, long n) {
  LOOP y[i] = ((a * x[i] + b) * x[i] + c) * x[i] + d;
}
void polynomial(D y, CD x, CD c, long n) {
  const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7], c8 = c[8];
  LOOP {
    const double v = x[i];
    y[i] = (((((((c8 * v + c7) * v + c6) * v + c5) * v + c4) * v + c3) * v + c2) * v + c1) * v + c0;
  }
}
void rational(D y, CD x, CD c, long n) {
  const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], d0 = c[4], d1 = c[5], d2 = c[6], d3 = c[7];
  LOOP {
    const double v = x[i];
    y[i] = (((c3 * v + c2) * v + c1) * v + c0) / (((d3 * v + d2) * v + d1) * v + d0);
  }
}
void linear8(D z, CD x, CD y, CD c, long n) {
  const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7];
  LOOP z[i] = (c0 * x[i] + c1 * y[i]) * (c2 * x[i] + c3 * y[i]) + (c4 * x[i] + c5 * y[i]) * (c6 * x[i] + c7 * y[i]);
}
void addi(int *restrict z, const int *restrict x, const int *restrict y, long n) { LOOP z[i] = x[i] + y[i]; }
int sumi(const int *restrict x, long n) { int s = 0; LOOP s += x[i]; return s; }
void maski(int *restrict z, const int *restrict x, int m, long n) { LOOP z[i] = (x[i] & m) + 3; }
void convert(D y, const int *restrict x, long n) { LOOP y[i] = x[i]; }
void widen(D y, CF x, long n) { LOOP y[i] = x[i]; }
void difference(D y, CD x, long n) { LOOP y[i] = x[i + 1] - x[i]; }
