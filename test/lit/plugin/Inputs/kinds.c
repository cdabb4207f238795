// One function for each kind of loop that clang's passes make. No headers: for any processor.
typedef unsigned char byte;
void vectorised(float *restrict a, const float *restrict b, int n) {
#pragma clang loop vectorize_width(8) interleave_count(2)
  for (int i = 0; i < n; ++i)
    a[i] += b[i];
}
void fixed(float *restrict a, const float *restrict b) {
#pragma clang loop vectorize_width(8) interleave_count(1) unroll(disable)
  for (int i = 0; i < 4096; ++i)
    a[i] += b[i];
}
void overlapping(float *a, const float *b, int n) {
#pragma clang loop vectorize_width(4) interleave_count(4)
  for (int i = 0; i < n; ++i)
    a[i] += b[i];
}
void interleaved(float *restrict a, const float *restrict b, int n) {
#pragma clang loop vectorize_width(1) interleave_count(4)
  for (int i = 0; i < n; ++i)
    a[i] += b[i];
}
double unrolled(const double *a, int n) {
  double sum = 0;
#pragma clang loop unroll_count(4)
  for (int i = 0; i < n; ++i)
    sum += a[i];
  return sum;
}
struct node {
  struct node *next;
  int value;
};
int list(const struct node *p) {
  int sum = 0;
  for (; p; p = p->next)
    sum += p->value;
  return sum;
}
void bytes(byte *restrict d, const byte *restrict s, int n) {
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; ++i)
    d[i] = s[2 * i] ^ s[2 * i + 1];
}
void completely(float *a) {
  for (int i = 0; i < 1000; ++i)
    for (int j = 0; j < 3; ++j)
      a[i] = a[i] * 0.5f + j;
}
void nested(double *restrict c, const double *restrict a, const double *restrict b, int n) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j)
      sum += a[n * i + j] * b[j];
    c[i] = sum;
  }
}
void versioned(float *a, float *b, float *c, int n) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < n; ++i) {
    a[i + 1] = a[i] + b[i];
    c[i] = a[i + 1] * 2;
  }
}
static inline void clear(int *p, int n) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < n; ++i)
    p[i] = i;
}
void inlined(int *p, int n) { clear(p, n); }
