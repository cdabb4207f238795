/* Three loops that take other times in a program than the prediction for endless iterations in L1:

       incc gcc -O3 -march=native -g --analyze-probe examples/rows.c -o rows && incc-run -- ./rows */
#include <stdio.h>
#include <stdlib.h>

enum { Rows = 200000, Columns = 12, Large = 4000000, Small = 1000 };

/* Short rows: most of the time goes into entering and leaving the inner loop. */
static void row_sums(const double *restrict a, double *restrict sums, long columns) {
  for (long i = 0; i < Rows; ++i) {
    double sum = 0;
    for (long j = 0; j < columns; ++j)
      sum += a[i * columns + j];
    sums[i] = sum;
  }
}

/* Arrays of 32 MB each: the data come from memory. */
static void triad(double *restrict a, const double *restrict b, const double *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = b[i] + 3 * c[i];
}

/* Data in L1, and many iterations: as predicted. */
static double dot(const double *restrict a, const double *restrict b, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

int main(void) {
  double *a = calloc(Large, sizeof *a), *b = calloc(Large, sizeof *b), *c = calloc(Large, sizeof *c);
  double result = 0;
  for (long i = 0; i < Large; ++i)
    b[i] = 1, c[i] = 2;
  for (int again = 0; again < 10; ++again) {
    row_sums(b, a, Columns);
    triad(a, b, c, Large);
    for (int inner = 0; inner < 5000; ++inner)
      result += dot(b + inner % 16, c, Small);
  }
  printf("%g %g\n", result, a[Large / 2]);
  return 0;
}
