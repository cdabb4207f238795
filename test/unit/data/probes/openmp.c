// Loops in the threads of OpenMP, with tasks and nested teams.
#include <omp.h>
#include <stdio.h>

static double Values[10000];

static long fib(int N) {
  long A, B;
  if (N < 12) {
    long Sum = 0;
    for (int I = 0; I < N; ++I)
      Sum += I;
    return Sum;
  }
#pragma omp task shared(A)
  A = fib(N - 1);
#pragma omp task shared(B)
  B = fib(N - 2);
#pragma omp taskwait
  return A + B;
}

int main(void) {
  double Sum = 0;
  long Tasks = 0;
  for (int Round = 0; Round < 50; ++Round) {
#pragma omp parallel for schedule(dynamic, 100) num_threads(4)
    for (int I = 0; I < 10000; ++I)
      Values[I] = I + Round;
#pragma omp parallel for reduction(+ : Sum) num_threads(3)
    for (int I = 0; I < 10000; ++I)
      Sum += Values[I];
#pragma omp parallel num_threads(4)
#pragma omp single
    Tasks += fib(16);
  }
  printf("%.0f %ld\n", Sum, Tasks);
  return 0;
}
