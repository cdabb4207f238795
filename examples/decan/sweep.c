// A red-black sweep: each half of the sweep updates every second cell of a grid, and reads the coefficients of these
// cells alone, so half of each cache line of `am` is not used. With -DSPLIT, the coefficients of the red cells are in an
// array of their own, one after the other.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 256, NY = 128, NZ = 64, CELLS = NX * NY * NZ };

static double phi[CELLS], su[CELLS], residual;
static double *am[7];
static int red[CELLS / 2], own[CELLS / 2], reds;

__attribute__((noinline)) void sweep(void) {
  double sum = 0;
  for (int i = 0; i < reds; i++) {
    long c = red[i];
#ifdef SPLIT
    long m = own[i];
#else
    long m = c;
#endif
    double h = am[0][m] * phi[c + 1] + am[1][m] * phi[c - 1] + am[2][m] * phi[c + NX] + am[3][m] * phi[c - NX] +
               am[4][m] * phi[c + NX * NY] + am[5][m] * phi[c - NX * NY] + su[c];
    double change = 0.9 * (h / am[6][m] - phi[c]);
    phi[c] += change;
    sum += fabs(change);
  }
  residual = sum;
}

int main(void) {
  for (int n = 0; n < 7; n++) {
    am[n] = malloc(sizeof(double) * CELLS);
    for (int c = 0; c < CELLS; c++)
      am[n][c] = n < 6 ? 1 : 6;
  }
  for (int z = 1; z < NZ - 1; z++)
    for (int y = 1; y < NY - 1; y++)
      for (int x = 1 + (y + z) % 2; x < NX - 1; x += 2)
        red[reds] = (z * NY + y) * NX + x, own[reds] = reds, reds++;
  phi[red[reds / 2]] = 1;
  for (int repeat = 0; repeat < 20; repeat++)
    sweep();
  printf("%g\n", residual);
}
