/* The loops of bench/probes.py: arrays in L1, many iterations per entry. `kernels NAME REPEAT` runs one, `kernels all
   REPEAT` all of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Length = 1600 };

/* Of n doubles, 2 n floats and numbers of 32 bits, 8 n bytes: as many iterations for all of them. */
static double a[Length + 8], b[Length + 8], c[Length + 8];
static float f[2 * Length], g[2 * Length];
static int32_t i32[2 * Length], j32[2 * Length];
static uint8_t u8[8 * Length], v8[8 * Length];
static int64_t order[Length];

#ifdef __clang__
#define KERNEL(Name) static __attribute__((noinline)) double Name(long n)
#else
#define KERNEL(Name) static __attribute__((noipa)) double Name(long n)
#endif

KERNEL(triad) { for (long i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i]; return a[1]; }
KERNEL(dot) { double s = 0; for (long i = 0; i < n; ++i) s += a[i] * b[i]; return s; }
KERNEL(copy) { for (long i = 0; i < n; ++i) a[i] = b[i]; return a[1]; }
KERNEL(scale) { for (long i = 0; i < n; ++i) a[i] *= 1.0000001; return a[1]; }
KERNEL(quotient) { for (long i = 0; i < n; ++i) a[i] = b[i] / (c[i] + 1); return a[1]; }
KERNEL(root) { for (long i = 0; i < n; ++i) a[i] = sqrt(b[i]); return a[1]; }
KERNEL(stencil) { for (long i = 1; i < n; ++i) a[i] = 0.25 * (b[i - 1] + 2 * b[i] + b[i + 1]); return a[1]; }
KERNEL(recurrence) { for (long i = 1; i < n; ++i) a[i] = a[i - 1] * 0.5 + b[i]; return a[n - 1]; }
KERNEL(polynomial) {
  for (long i = 0; i < 2 * n; ++i) { float x = f[i]; g[i] = ((((x * 3 + 2) * x + 5) * x + 7) * x + 1) * x + 4; }
  return g[1];
}
KERNEL(integers) { int32_t s = 0; for (long i = 0; i < 2 * n; ++i) s += i32[i] ^ (j32[i] >> 3); return s; }
KERNEL(largest) { int32_t m = 0; for (long i = 0; i < 2 * n; ++i) m = i32[i] > m ? i32[i] : m; return m; }
KERNEL(bytes) { for (long i = 0; i < 8 * n; ++i) u8[i] = (uint8_t)((u8[i] * 5 + v8[i] * 3) >> 3); return u8[1]; }
KERNEL(gathered) { double s = 0; for (long i = 0; i < n; ++i) s += a[order[i]]; return s; }
KERNEL(convert) { for (long i = 0; i < n; ++i) a[i] = i32[i]; return a[1]; }
KERNEL(hash) { uint64_t h = 14695981039346656037u; for (long i = 0; i < n; ++i) h = (h ^ u8[i]) * 1099511628211u; return (double)(h & 1023); }
KERNEL(prefix) { int32_t s = 0; for (long i = 0; i < 2 * n; ++i) { s += i32[i]; j32[i] = s; } return s; }
KERNEL(reversed) { for (long i = 0; i < n; ++i) a[i] = b[n - 1 - i]; return a[1]; }
KERNEL(pairs) { double s = 0; for (long i = 0; i + 1 < n; i += 2) s += a[i] * b[i + 1] - a[i + 1] * b[i]; return s; }
KERNEL(bounded) { for (long i = 0; i < n; ++i) a[i] = fmin(fmax(b[i], 1), 100); return a[1]; }
KERNEL(zeros) { long s = 0; for (long i = 0; i < 8 * n; ++i) s += u8[i] == 0; return (double)s; }

static const struct {
  const char *name;
  double (*run)(long);
} Kernels[] = {
#define ROW(Name) {#Name, Name}
    ROW(triad), ROW(dot), ROW(copy), ROW(scale), ROW(quotient), ROW(root), ROW(stencil), ROW(recurrence),
    ROW(polynomial), ROW(integers), ROW(largest), ROW(bytes), ROW(gathered), ROW(convert), ROW(hash), ROW(prefix),
    ROW(reversed), ROW(pairs), ROW(bounded), ROW(zeros),
};

int main(int count, char **values) {
  if (count != 3)
    return 2;
  long repeat = atol(values[2]);
  for (int i = 0; i < Length; ++i) {
    a[i] = b[i] = c[i] = 1 + i % 7;
    order[i] = i * 7 % Length;
  }
  for (int i = 0; i < 2 * Length; ++i) {
    f[i] = g[i] = 0.5f;
    i32[i] = j32[i] = i * 37 % 101;
  }
  for (int i = 0; i < 8 * Length; ++i)
    u8[i] = v8[i] = (uint8_t)(i * 13);
  double result = 0;
  for (size_t k = 0; k < sizeof Kernels / sizeof *Kernels; ++k)
    if (!strcmp(values[1], "all") || !strcmp(values[1], Kernels[k].name))
      for (long again = 0; again < repeat; ++again) {
        __asm__ volatile("" ::: "memory");
        result += Kernels[k].run(Length);
      }
  printf("%g\n", result);
  return 0;
}
