// A library that is loaded and unloaded while threads run.
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

NOINLINE static long sum(const long *Values, long N) {
  long Sum = 0;
  for (long I = 0; I < N; ++I)
    Sum += Values[I];
  return Sum;
}

long plugin(long N);
long plugin(long N) {
  long Values[100], Total = 0;
  for (long I = 0; I < 100; ++I)
    Values[I] = I * N;
  for (long I = 0; I < 50; ++I)
    Total += sum(Values, I);
  return Total;
}
