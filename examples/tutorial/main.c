/* Sum up how 1,000 bodies pull at each of them, 1,000 times, and print the time that a pair takes. */
#include "gravity.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { Bodies = 1000, Rounds = 1000 };

static float x[Bodies], y[Bodies], z[Bodies], mass[Bodies];
#ifdef ARRAYS
static struct bodies bodies[] = {{x, y, z, mass}};
#else
static struct bodies bodies[Bodies];
#endif

int main(void) {
  for (int i = 0; i < Bodies; ++i) {
    x[i] = rand() % 1000;
    y[i] = rand() % 1000;
    z[i] = rand() % 1000;
    mass[i] = 1;
#ifndef ARRAYS
    bodies[i] = (struct bodies){x[i], y[i], z[i], mass[i]};
#endif
  }
  struct vector sum = {0, 0, 0};
  clock_t start = clock();
  for (int round = 0; round < Rounds; ++round)
    for (int i = 0; i < Bodies; ++i)
      attract(bodies, Bodies, &(struct vector){x[i], y[i], z[i]}, &sum);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  printf("%.2f ns per pair, sum %g\n", 1e9 * seconds / Bodies / Bodies / Rounds, sum.x + sum.y + sum.z);
  return 0;
}
