// What became of the loops of before.c: functions in another order and under other names, loops moved, split, fused,
// unrolled and with other types. `// loop: NAME` stands for the lines up to the next one; the names are this file's own.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define N 512

typedef struct { float x, y, z; } Vec3;
typedef struct Node { struct Node *next; long value; } Node;

// New, and like nothing that was.
void transpose(double *restrict out, const double *restrict in, long n) {
  for (long i = 0; i < n; ++i) // loop: transpose-rows
    for (long j = 0; j < n; ++j) // loop: transpose
      out[j * n + i] = in[i * n + j];
}

uint64_t random_walk(uint64_t s, long steps) {
  for (long i = 0; i < steps; ++i) { // loop: xorshift
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
  }
  return s;
}

void saturate(int16_t *restrict result, const int *restrict values, long n) {
  for (long i = 0; i < n; ++i) { // loop: clamp-16
    int v = values[i];
    if (v > 32767)
      v = 32767;
    if (v < -32768)
      v = -32768;
    result[i] = (int16_t)v;
  }
}

// Was `compare`.
int compare_bytes(const char *left, const char *right, long length) {
  for (long i = 0; i < length; ++i) // loop: compare-bytes
    if (left[i] != right[i])
      return left[i] - right[i];
  return 0;
}

// Was `complex_multiply`.
void zmul(double *restrict out, const double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; ++i) { // loop: zmul
    double ar = a[2 * i], ai = a[2 * i + 1];
    double br = b[2 * i], bi = b[2 * i + 1];
    out[2 * i] = ar * br - ai * bi;
    out[2 * i + 1] = ar * bi + ai * br;
  }
}

double correlation(const double *restrict a, const double *restrict b, long n) {
  double products = 0, first = 0, second = 0;
  for (long k = 0; k < n; ++k) { // loop: correlate
    products += a[k] * b[k];
    first += a[k] * a[k];
    second += b[k] * b[k];
  }
  return products / sqrt(first * second);
}

void fill_pattern(uint16_t *a, long n) {
  if (!a)
    return;
  for (long i = 0; i < n; ++i) // loop: pattern
    a[i] = (uint16_t)(i * 40503u >> 4);
}

// Split.
void both(double *restrict a, double *restrict b, const double *restrict c, const double *restrict d, long n) {
  for (long i = 0; i < n; ++i) // loop: both-linear
    a[i] = c[i] * 3.0 + 1.0;
  for (long i = 0; i < n; ++i) // loop: both-root
    b[i] = sqrt(d[i]) / 7.0;
}

// Fused.
void two(float *restrict a, int *restrict b, const float *restrict c, const int *restrict d, long n) {
  for (long i = 0; i < n; ++i) { // loop: two-fused
    a[i] = c[i] / 3.0f;
    b[i] = d[i] * 5 + 1;
  }
}

// Unrolled by hand.
double dot(const double *restrict a, const double *restrict b, long n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  long i = 0;
  for (; i + 4 <= n; i += 4) { // loop: dot-four
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; ++i) // loop: dot-rest
    s0 += a[i] * b[i];
  return s0 + s1 + s2 + s3;
}

// Was `blend`.
void mix(float *restrict out, const float *restrict first, const float *restrict second, float t, long n) {
  for (long i = 0; i < n; ++i) // loop: mix
    out[i] = first[i] * (1 - t) + second[i] * t;
}

// Takes floats now.
void triad(float *restrict a, const float *restrict b, const float *restrict c, float s, long n) {
  for (long i = 0; i < n; ++i) // loop: triad-float
    a[i] = b[i] + s * c[i];
}

static inline double polynomial(const double *a, long n, double x) {
  double v = 0;
  for (long i = 0; i < n; ++i) // loop: evaluate
    v = v * x + a[i];
  return v;
}

double at_one(const double *a, long n) { return polynomial(a, n, 1.25); }

void threshold(uint8_t *restrict out, const uint8_t *restrict in, uint8_t level, long n) {
  for (long i = 0; i < n; ++i) // loop: binarise
    out[i] = in[i] >= level ? 255 : 0;
}

// Was `search`.
long lower_bound(const long *values, long count, long wanted) {
  long first = 0, last = count;
  while (first < last) { // loop: bisect
    long half = first + (last - first) / 2;
    if (values[half] < wanted)
      first = half + 1;
    else
      last = half;
  }
  return first;
}

int bits_set(const uint64_t *a, long n) {
  int total = 0;
  for (long i = 0; i < n; ++i) { // loop: count-bits
    uint64_t v = a[i];
    v = v - ((v >> 1) & 0x5555555555555555);
    v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
    total += (v * 0x0101010101010101) >> 56;
  }
  return total;
}

// Was `gcd`.
long common_divisor(long a, long b) {
  while (b != 0) { // loop: euclid
    long rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void apply_exp(double *a, long n) {
  for (long i = 0; i < n; ++i) // loop: exponentials
    a[i] = exp(-a[i]);
}

double power_sum(const double *a, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) // loop: powers
    sum += pow(a[i], 1.5);
  return sum;
}

void prefix(long *a, long n) {
  long sum = a[0];
  for (long i = 1; i < n; ++i) { // loop: running-sum
    sum += a[i];
    a[i] = sum;
  }
}

// Was `reverse`.
void flip(int *values, long n) {
  for (long low = 0, high = n - 1; low < high; ++low, --high) { // loop: flip
    int t = values[low];
    values[low] = values[high];
    values[high] = t;
  }
}

// Were two functions.
void permute(double *restrict out, const double *restrict in, const int *restrict index, long n, int back) {
  if (back)
    for (long i = 0; i < n; ++i) // loop: permute-scatter
      out[index[i]] = in[i];
  else
    for (long i = 0; i < n; ++i) // loop: permute-gather
      out[i] = in[index[i]];
}

void matvec(double *restrict y, const double *restrict a, const double *restrict x, long n) {
  memset(y, 0, n * sizeof *y);
  for (long i = 0; i < n; ++i) { // loop: product-rows
    const double *row = a + i * n;
    double sum = 0;
    for (long j = 0; j < n; ++j) // loop: product
      sum += row[j] * x[j];
    y[i] += sum;
  }
}

void move(Vec3 *restrict p, const Vec3 *restrict v, float dt, long n) {
  for (long i = 0; i < n; ++i) { // loop: advance
    p[i].x += dt * v[i].x;
    p[i].y += dt * v[i].y;
    p[i].z += dt * v[i].z;
  }
}

// Were `narrow` and `convert`.
void to_bytes(uint8_t *restrict out, const float *restrict in, long n) {
  for (long i = 0; i < n; ++i) // loop: to-bytes
    out[i] = (uint8_t)(in[i] * 255.0f);
}

void from_bytes(float *restrict out, const uint8_t *restrict in, long n) {
  for (long i = 0; i < n; ++i) // loop: from-bytes
    out[i] = in[i] * (1.0f / 255);
}

// The loop for the largest one stands in a function of its own now, and one was put before the others.
double largest_magnitude(const double *values, long n) {
  double most = 0;
  for (long i = 0; i < n; ++i) { // loop: largest-magnitude
    double magnitude = fabs(values[i]);
    most = magnitude > most ? magnitude : most;
  }
  return most;
}

void statistics(double *restrict a, double *restrict centred, long n, double *result) {
  double sum = 0, squares = 0;
  for (long i = 0; i < n; ++i) // loop: clean
    a[i] = a[i] > 1e30 ? 0 : a[i];
  for (long i = 0; i < n; ++i) // loop: average
    sum += a[i];
  double mean = sum / n;
  for (long i = 0; i < n; ++i) // loop: shift
    centred[i] = a[i] - mean;
  for (long i = 0; i < n; ++i) // loop: spread
    squares += centred[i] * centred[i];
  result[0] = mean;
  result[1] = squares / n;
}

void stencil(double *restrict out, const double *restrict in, double w, long n) {
  for (long i = 1; i < n - 1; ++i) // loop: smooth
    out[i] = w * in[i - 1] + (1 - 2 * w) * in[i] + w * in[i + 1];
}

float minimum(const float *a, long n) {
  float best = a[0];
  for (long i = 1; i < n; ++i) // loop: least
    best = a[i] < best ? a[i] : best;
  return best;
}

// Takes shorts now.
short maximum(const short *a, long n) {
  short best = a[0];
  for (long i = 1; i < n; ++i) // loop: most
    best = a[i] > best ? a[i] : best;
  return best;
}

uint32_t adler(const uint8_t *data, long n) {
  uint32_t a = 1, b = 0;
  for (long i = 0; i < n; ++i) { // loop: adler-32
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return (b << 16) + a;
}

// Was `checksum`.
uint32_t fnv(const uint8_t *bytes, long count) {
  uint32_t hash = 2166136261u;
  for (long i = 0; i < count; ++i) // loop: fnv
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

void histogram(int *restrict counts, const uint8_t *restrict keys, long n) {
  for (long i = 0; i < n; ++i) // loop: tally
    counts[keys[i]] += 2;
}

size_t length(const char *s) {
  const char *at = s;
  while (*at != '\n' && *at != 0) // loop: to-line-end
    ++at;
  return at - s;
}

// Was `list_sum`.
long total(const Node *first) {
  long result = 0;
  for (const Node *node = first; node; node = node->next) // loop: total
    result += node->value;
  return result;
}

void roots(float *restrict a, const float *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop: square-roots
    a[i] = sqrtf(b[i]);
}

void divide(double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; ++i) // loop: reciprocals
    a[i] = 1.0 / b[i];
}

double horner(const double *restrict c, double *restrict out, const double *restrict x, long n) {
  double last = 0;
  for (long i = 0; i < n; ++i) { // loop: cubic
    double v = c[0];
    v = v * x[i] + c[1];
    v = v * x[i] + c[2];
    v = v * x[i] + c[3];
    out[i] = v;
  }
  return last;
}

float norm2(const float *a, long n) {
  float sum = 0;
  for (long i = 0; i < n; i++) // loop: squares
    sum += a[i] * a[i];
  return sum;
}

void scale(double *a, double s, long n) {
  for (long i = 0; i < n; ++i) // loop: scaled
    a[i] *= s;
}

// Was `trapezoid`.
double area_under(const double *x, const double *y, long n) {
  double area = 0;
  for (long i = 1; i < n; ++i) // loop: area-under
    area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]);
  return 0.5 * area;
}

// New, and like nothing that was.
void rotate_hue(uint32_t *pixels, long n) {
  for (long i = 0; i < n; ++i) // loop: rotate-hue
    pixels[i] = (pixels[i] & 0xff000000u) | ((pixels[i] & 0xffu) << 16) | ((pixels[i] >> 8) & 0xffffu);
}
