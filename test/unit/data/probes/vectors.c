// Vector registers, masks and the floating-point state are in use across entries and exits of loops.
#include <stdio.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static float Values[64];

// All vectors stay in registers around both inner loops.
NOINLINE static float across(const float *Of, long N, float *Into) {
  float A[16], B[16], C[16], D[16];
  long double Long = 1;
  for (int I = 0; I < 16; ++I)
    A[I] = Of[I], B[I] = Of[I] * 2, C[I] = Of[I] - 3, D[I] = Of[I] / 7;
  for (long Round = 0; Round < N; ++Round) {
    long Count = 0;
    for (long I = Round & 15; I < 40; ++I)
      Count += Of[I] > 20 ? I : 1;
    for (int I = 0; I < 16; ++I) {
      A[I] = A[I] * 0.5f + B[I], B[I] = B[I] * 0.25f - C[I], C[I] = C[I] * 0.125f + D[I];
      D[I] = D[I] * 0.5f + (float)Count;
    }
    Long = Long * 0.75L + Count;
  }
  float Sum = (float)Long;
  for (int I = 0; I < 16; ++I)
    Into[I] = A[I] + B[I] + C[I] + D[I], Sum += Into[I];
  return Sum;
}

int main(void) {
  float Into[16], Total = 0;
  for (int I = 0; I < 64; ++I)
    Values[I] = (float)I;
  for (int Round = 1; Round < 300; ++Round)
    Total += across(Values, Round, Into) / (float)Round;
  printf("%.9g %.9g\n", Total, Into[7]);
  return 0;
}
