// A matrix-vector product on a grid, with a matrix of seven diagonals. All arrays have a size that is a multiple of
// 4 KiB, so the addresses of the same element in all of them agree in their low 12 bits: the loads of acx[i - 1] and
// temp[i - 1] seem to read what the iteration before has stored to result[i - 1]. PAD puts 64 bytes more between arrays.
#include <stdio.h>

#ifndef PAD
#define PAD 0
#endif

enum { N = 64, SIZE = N * N * N + PAD * 8 };

static struct {
  double result[SIZE], temp[SIZE], acx[SIZE], acy[SIZE], acz[SIZE], coeffd[SIZE];
} a;

__attribute__((noinline)) void product(void) {
  for (int k = 1; k < N - 1; k++)
    for (int j = 1; j < N - 1; j++) {
      long row = (k * N + j) * (long)N;
      for (long i = row + 1; i < row + N - 1; i++)
        a.result[i] = a.temp[i] - (a.acx[i - 1] * a.temp[i - 1] + a.acx[i] * a.temp[i + 1] +
                                   a.acy[i - N] * a.temp[i - N] + a.acy[i] * a.temp[i + N] +
                                   a.acz[i - N * N] * a.temp[i - N * N] + a.acz[i] * a.temp[i + N * N]) /
                                      a.coeffd[i];
    }
}

int main(void) {
  for (long i = 0; i < SIZE; i++)
    a.temp[i] = a.acx[i] = a.acy[i] = a.acz[i] = 1, a.coeffd[i] = 8;
  for (int repeat = 0; repeat < 100; repeat++)
    product();
  printf("%g\n", a.result[SIZE / 2]);
}
