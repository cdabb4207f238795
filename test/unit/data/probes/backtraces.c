// A handler of a frequent signal follows the stack, also from within probes; each time it must reach main.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

int main(void);
static char Start, *volatile Stack;
static volatile long Good, Bad;
static long Values[4096];
static unsigned long MainFrom, MainTo;

NOINLINE static long sum(const long *Of, long N) {
  long Sum = 0;
  for (long I = 0; I < N; ++I)
    Sum += Of[I];
  return Sum;
}

NOINLINE static long find(const long *Of, long N, long Wanted) {
  long I = 0;
  for (; I < N; ++I)
    if (Of[I] >= Wanted)
      break;
  return I < N ? (Of[I] == Wanted ? I : -I) : -1000;
}

NOINLINE static long many(long A, long B, long C, long D) {
  long E = A ^ B, F = C ^ D, G = A + D, H = B + C, I = A - D;
  for (long J = 0; J < 5; ++J) {
    A += B ^ E, B += C ^ F, C += D ^ G, D += A ^ H;
    E += Values[A & 63], F -= Values[B & 63], G ^= C, H += D, I += E;
    if (I == 12345)
      break;
  }
  return A ^ B ^ C ^ D ^ E ^ F ^ G ^ H ^ I;
}

static void onSignal(int Number) {
  void *Places[64];
  int Count = backtrace(Places, 64);
  (void)Number;
  for (int I = 0; I < Count; ++I)
    if ((unsigned long)Places[I] >= MainFrom && (unsigned long)Places[I] < MainTo) {
      ++Good;
      return;
    }
  ++Bad;
}

__attribute__((noinline, section(".text.of_main"))) static long run(void) {
  long Total = 0;
  for (long Round = 0; Good + Bad < 2000 && Round < 100000000; ++Round)
    Total += sum(Values, Round & 3) + find(Values, 64, Round & 63) + many(Round, 1, 2, 3);
  return Total;
}

int main(void) {
  for (long I = 0; I < 4096; ++I)
    Values[I] = I;
  void *Places[64];
  backtrace(Places, 64);
  MainFrom = (unsigned long)main;
  MainTo = MainFrom + 4096;
  (void)Start, (void)Stack;
  struct sigaction Action = {.sa_handler = onSignal, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &Action, NULL);
  sigaction(SIGALRM, &Action, NULL);
  struct itimerval Often = {{0, 100}, {0, 100}}, Never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &Often, NULL);
  long Total = run();
  setitimer(ITIMER_REAL, &Never, NULL);
  fprintf(stderr, "%ld\n", Total);
  printf("%d %ld\n", Good > 100, Bad);
  return 0;
}
