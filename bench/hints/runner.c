/* Measures a kernel: cycles of the core's clock that a call takes.
 *
 *   runner KERNEL.so N BYTES TYPE TYPE TYPE [COUNTERS]
 *
 * calls `kernel(a, b, c, N, s)` of the shared object, where a, b, c point to BYTES each that hold values of the types:
 * double, float, int, long, byte; index: a permutation of 0 ... N-1; random: an int, in no order; sorted: an int, the
 * smaller ones first; anywhere: an int below N, in no order. s is 1.5, in the register that a function without that parameter does not read.
 *
 * The time-stamp counter has a clock of its own, so each measurement stands between two of a chain of additions, of which
 * the core makes one in a cycle (of a register to itself: cores may add constants while they rename registers). Those
 * between which the clock has changed are thrown away. Printed is what a tenth of the
 * others are below: much of what else a machine does slows a loop down, and the least would be one whose chain happened
 * to be disturbed.
 *
 * With COUNTERS, the kernel is called once, and so many counters are printed, which its function `incc_read` points to. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

enum { TRIALS = 400, CHAIN = 200 };
static const double MOST = 2e9; /* Cycles of the time-stamp counter for all trials, if there are enough of them. */
typedef long kernel_type(void *, void *, void *, long, double);

static double chain(void) {
  unsigned unused;
  unsigned long long start = __rdtscp(&unused);
  long count = CHAIN, value = 0;
  __asm__ volatile("1:\n\t.rept 50\n\taddq %1, %1\n\t.endr\n\tdecq %0\n\tjnz 1b" : "+r"(count), "+r"(value) : : "cc");
  return (double)(__rdtscp(&unused) - start) / (50.0 * CHAIN);
}

static void fill(void *memory, long bytes, const char *type, long n) {
  unsigned long state = 12345;
  for (long i = 0; i < bytes / 8; ++i) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    unsigned random = state >> 40;
    if (!strcmp(type, "double"))
      ((double *)memory)[i] = 0.75 + (random & 1023) / 2048.0;
    else if (!strcmp(type, "long"))
      ((long *)memory)[i] = 1 + (random & 1023);
    else if (!strcmp(type, "byte"))
      for (int k = 0; k < 8; ++k)
        ((char *)memory)[8 * i + k] = 1 + (random >> k) % 100;
  }
  for (long i = 0; i < bytes / 4; ++i) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    unsigned random = state >> 40;
    if (!strcmp(type, "float"))
      ((float *)memory)[i] = 0.75f + (random & 1023) / 2048.0f;
    else if (!strcmp(type, "int"))
      ((int *)memory)[i] = 1 + (i & 1023);
    else if (!strcmp(type, "random"))
      ((int *)memory)[i] = 1 + (random & 1023);
    else if (!strcmp(type, "sorted"))
      ((int *)memory)[i] = 1 + (int)(1023 * i / n);
    else if (!strcmp(type, "anywhere"))
      ((int *)memory)[i] = (int)((state >> 33) % n);
    else if (!strcmp(type, "index"))
      ((int *)memory)[i] = (int)((i * 7919) % n);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 7 && argc != 8)
    return fprintf(stderr, "usage: runner KERNEL.so N BYTES TYPE TYPE TYPE [COUNTERS]\n"), 2;
  void *object = dlopen(argv[1], RTLD_NOW);
  kernel_type *kernel = object ? (kernel_type *)dlsym(object, "kernel") : NULL;
  if (!kernel)
    return fprintf(stderr, "runner: %s\n", dlerror()), 2;
  long n = atol(argv[2]), bytes = atol(argv[3]);
  char *data[3];
  for (int i = 0; i < 3; ++i) {
    /* Starts that differ within a page, so that stores do not seem to be what later loads read. */
    data[i] = (char *)aligned_alloc(4096, bytes + 4096) + i * 1088;
    data[i] = (char *)(((unsigned long)data[i]) & ~63ul);
    fill(data[i], bytes, argv[4 + i], n);
  }
  if (argc == 8) {
    kernel(data[0], data[1], data[2], n, 1.5);
    long *(*counters)(void) = (long *(*)(void))dlsym(object, "incc_read");
    for (int i = 0; counters && i < atoi(argv[7]); ++i)
      printf("%ld\n", counters()[i]);
    return !counters;
  }
  static double found[TRIALS];
  int count = 0;
  int repetitions = 1;
  double spent = 0;
  for (int trial = 0; trial < TRIALS && (count < 3 || spent < MOST); ++trial) {
    unsigned unused;
    double before = chain();
    unsigned long long start = __rdtscp(&unused);
    for (int i = 0; i < repetitions; ++i)
      kernel(data[0], data[1], data[2], n, 1.5);
    double time = (double)(__rdtscp(&unused) - start) / repetitions;
    double after = chain();
    spent += time * repetitions;
    if (trial == 2 && time < 10000)
      repetitions = 1 + (int)(10000 / time);
    double ratio = after / before;
    if (trial > 2 && ratio > 0.99 && ratio < 1.01)
      found[count++] = 2 * time / (before + after);
  }
  if (!count)
    return fprintf(stderr, "runner: the clock does not stand still\n"), 1;
  qsort(found, count, sizeof *found, compare);
  printf("%.3f\n", found[count / 10]);
  return 0;
}
