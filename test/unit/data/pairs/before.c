// Loops as they were, for test_comparison_pairs.py; after.c has what became of them. `// loop: NAME` stands for the
// lines up to the next one.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define N 256

typedef struct { float x, y, z; } Vec3;
typedef struct Node { struct Node *next; long value; } Node;

double dot(const double *restrict a, const double *restrict b, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) // loop: dot
    sum += a[i] * b[i];
  return sum;
}

void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, long n) {
  for (long i = 0; i < n; ++i) // loop: triad
    a[i] = b[i] + s * c[i];
}

void scale(double *a, double s, long n) {
  for (long i = 0; i < n; ++i) // loop: scale
    a[i] *= s;
}

float norm2(const float *a, long n) {
  float sum = 0;
  for (long i = 0; i < n; ++i) // loop: norm2
    sum += a[i] * a[i];
  return sum;
}

double horner(const double *restrict c, double *restrict out, const double *restrict x, long n) {
  double last = 0;
  for (long i = 0; i < n; ++i) { // loop: horner
    double v = c[0];
    v = v * x[i] + c[1];
    v = v * x[i] + c[2];
    v = v * x[i] + c[3];
    v = v * x[i] + c[4];
    out[i] = v;
  }
  return last;
}

void divide(double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop: divide
    a[i] = 1.0 / b[i];
}

void roots(float *restrict a, const float *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop: roots
    a[i] = sqrtf(b[i]);
}

long list_sum(const Node *node) {
  long sum = 0;
  for (; node; node = node->next) // loop: list-sum
    sum += node->value;
  return sum;
}

size_t length(const char *s) {
  size_t n = 0;
  while (s[n] != '\n' && s[n] != 0) // loop: length
    ++n;
  return n;
}

void histogram(int *restrict counts, const uint8_t *restrict keys, long n) {
  for (long i = 0; i < n; ++i) // loop: histogram
    counts[keys[i]]++;
}

uint32_t checksum(const uint8_t *data, long n) {
  uint32_t h = 2166136261u;
  for (long i = 0; i < n; ++i) // loop: checksum
    h = (h ^ data[i]) * 16777619u;
  return h;
}

uint32_t adler(const uint8_t *data, long n) {
  uint32_t a = 1, b = 0;
  for (long i = 0; i < n; ++i) { // loop: adler
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

int maximum(const int *a, long n) {
  int best = a[0];
  for (long i = 1; i < n; ++i) // loop: maximum
    best = a[i] > best ? a[i] : best;
  return best;
}

float minimum(const float *a, long n) {
  float best = a[0];
  for (long i = 1; i < n; ++i) // loop: minimum
    best = a[i] < best ? a[i] : best;
  return best;
}

void stencil(double *restrict out, const double *restrict in, long n) {
  for (long i = 1; i < n - 1; ++i) // loop: stencil
    out[i] = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
}

// Three loops in one function.
void statistics(const double *restrict a, double *restrict centred, long n, double *result) {
  double sum = 0, squares = 0, most = 0;
  for (long i = 0; i < n; ++i) // loop: mean
    sum += a[i];
  double mean = sum / n;
  for (long i = 0; i < n; ++i) // loop: centre
    centred[i] = a[i] - mean;
  for (long i = 0; i < n; ++i) // loop: variance
    squares += centred[i] * centred[i];
  for (long i = 0; i < n; ++i) { // loop: largest
    double magnitude = fabs(centred[i]);
    most = magnitude > most ? magnitude : most;
  }
  result[0] = mean;
  result[1] = squares / n;
  result[2] = most;
}

void convert(float *restrict out, const uint8_t *restrict in, long n) {
  for (long i = 0; i < n; ++i) // loop: convert
    out[i] = in[i] * (1.0f / 255);
}

void narrow(uint8_t *restrict out, const float *restrict in, long n) {
  for (long i = 0; i < n; ++i) // loop: narrow
    out[i] = (uint8_t)(in[i] * 255.0f);
}

void move(Vec3 *restrict p, const Vec3 *restrict v, float t, long n) {
  for (long i = 0; i < n; ++i) { // loop: move
    p[i].x += t * v[i].x;
    p[i].y += t * v[i].y;
    p[i].z += t * v[i].z;
  }
}

void matvec(double *restrict y, const double *restrict a, const double *restrict x, long n) {
  for (long i = 0; i < n; ++i) { // loop: matvec-rows
    double sum = 0;
    for (long j = 0; j < n; ++j) // loop: matvec
      sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
}

void gather(double *restrict out, const double *restrict in, const int *restrict index, long n) {
  for (long i = 0; i < n; ++i) // loop: gather
    out[i] = in[index[i]];
}

void scatter(double *restrict out, const double *restrict in, const int *restrict index, long n) {
  for (long i = 0; i < n; ++i) // loop: scatter
    out[index[i]] = in[i];
}

void reverse(int *a, long n) {
  for (long i = 0, j = n - 1; i < j; ++i, --j) { // loop: reverse
    int t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
}

void prefix(long *a, long n) {
  for (long i = 1; i < n; ++i) // loop: prefix
    a[i] += a[i - 1];
}

double power_sum(const double *a, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) // loop: power-sum
    sum += pow(a[i], 1.5);
  return sum;
}

void apply_exp(double *a, long n) {
  for (long i = 0; i < n; ++i) // loop: apply-exp
    a[i] = exp(a[i]);
}

long gcd(long a, long b) {
  while (b) { // loop: gcd
    long t = a % b;
    a = b;
    b = t;
  }
  return a;
}

int bits_set(const uint64_t *a, long n) {
  int count = 0;
  for (long i = 0; i < n; ++i) { // loop: bits-set
    uint64_t v = a[i];
    v = v - ((v >> 1) & 0x5555555555555555);
    v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
    count += (v * 0x0101010101010101) >> 56;
  }
  return count;
}

long search(const long *a, long n, long key) {
  long low = 0, high = n;
  while (low < high) { // loop: search
    long middle = (low + high) / 2;
    if (a[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void threshold(uint8_t *restrict out, const uint8_t *restrict in, uint8_t level, long n) {
  for (long i = 0; i < n; ++i) // loop: threshold
    out[i] = in[i] > level ? 255 : 0;
}

// Is inlined into both functions behind it.
static inline double polynomial(const double *a, long n, double x) {
  double v = 0;
  for (long i = 0; i < n; ++i) // loop: polynomial
    v = v * x + a[i];
  return v;
}

double at_one(const double *a, long n) { return polynomial(a, n, 1.25); }

void blend(float *restrict out, const float *restrict a, const float *restrict b, float t, long n) {
  for (long i = 0; i < n; ++i) // loop: blend
    out[i] = a[i] * (1 - t) + b[i] * t;
}

// Is split in two.
void both(double *restrict a, double *restrict b, const double *restrict c, const double *restrict d, long n) {
  for (long i = 0; i < n; ++i) { // loop: both
    a[i] = c[i] * 3.0 + 1.0;
    b[i] = sqrt(d[i]) / 7.0;
  }
}

// Are fused.
void two(float *restrict a, int *restrict b, const float *restrict c, const int *restrict d, long n) {
  for (long i = 0; i < n; ++i) // loop: two-first
    a[i] = c[i] / 3.0f;
  for (long i = 0; i < n; ++i) // loop: two-second
    b[i] = d[i] * 5 + 1;
}

// Goes away.
int parity(const int *a, long n) {
  int p = 0;
  for (long i = 0; i < n; ++i) // loop: parity
    p ^= a[i] >> 3;
  return p & 1;
}

void fill_pattern(uint16_t *a, long n) {
  for (long i = 0; i < n; ++i) // loop: fill-pattern
    a[i] = (uint16_t)(i * 40503u >> 4);
}

double correlation(const double *restrict a, const double *restrict b, long n) {
  double ab = 0, aa = 0, bb = 0;
  for (long i = 0; i < n; ++i) { // loop: correlation
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / sqrt(aa * bb);
}

void complex_multiply(double *restrict out, const double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; ++i) { // loop: complex-multiply
    double re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    double im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    out[2 * i] = re;
    out[2 * i + 1] = im;
  }
}

int compare(const char *a, const char *b, long n) {
  for (long i = 0; i < n; ++i) // loop: compare
    if (a[i] != b[i])
      return a[i] - b[i];
  return 0;
}

void saturate(int16_t *restrict out, const int *restrict in, long n) {
  for (long i = 0; i < n; ++i) // loop: saturate
    out[i] = in[i] > 32767 ? 32767 : in[i] < -32768 ? -32768 : in[i];
}

uint64_t random_walk(uint64_t state, long n) {
  for (long i = 0; i < n; ++i) { // loop: random-walk
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

double trapezoid(const double *x, const double *y, long n) {
  double area = 0;
  for (long i = 1; i < n; ++i) // loop: trapezoid
    area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]);
  return 0.5 * area;
}
