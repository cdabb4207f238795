// longjmp out of loops, and siglongjmp out of a signal handler that runs the loop that it interrupts.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static jmp_buf Out;
static sigjmp_buf Handled;
static long Data[64];
static volatile sig_atomic_t Ready;
static volatile long Signals, Jumps;

NOINLINE static long sum(const long *Values, long N) {
  long Sum = 0;
  for (long I = 0; I < N; ++I)
    Sum += Values[I];
  return Sum;
}

// Its flags are needed behind the loop.
NOINLINE static long find(const long *Values, long N, long Wanted) {
  long I = 0;
  for (; I < N; ++I)
    if (Values[I] >= Wanted)
      break;
  return I < N ? (Values[I] == Wanted ? I : -I) : -1000;
}

NOINLINE static void leave(long N) {
  for (long I = 0; I < 64; ++I)
    if (Data[I] == N)
      longjmp(Out, (int)I + 1);
}

static void onSignal(int Number) {
  (void)Number;
  ++Signals;
  if (sum(Data, 64) != 2016 || find(Data, 64, 40) != 40 || find(Data, 64, 99) != -1000)
    _Exit(9);
  if (Ready && Signals % 3 == 0) {
    ++Jumps;
    siglongjmp(Handled, 1);
  }
}

NOINLINE static int rounds(volatile long *Round) {
  sigsetjmp(Handled, 1);
  Ready = 1;
  for (; *Round < 400000 || (Jumps < 30 && *Round < 50000000); ++*Round)
    if (sum(Data, 1 + *Round % 64) < 0 || find(Data, 64, *Round % 64) != *Round % 64)
      return 8;
  Ready = 0;
  return 0;
}

int main(void) {
  volatile long Total = 0, Round = 0;
  for (long I = 0; I < 64; ++I)
    Data[I] = I;
  for (volatile int N = 0; N < 2000; ++N) {
    int I = setjmp(Out);
    if (I)
      Total += I;
    else
      leave(N % 64);
  }
  struct sigaction Action = {.sa_handler = onSignal};
  sigaction(SIGPROF, &Action, NULL);
  sigaction(SIGALRM, &Action, NULL);
  struct itimerval Often = {{0, 300}, {0, 300}}, Never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &Often, NULL);
  setitimer(ITIMER_REAL, &Often, NULL);
  int Status = rounds(&Round);
  setitimer(ITIMER_PROF, &Never, NULL);
  setitimer(ITIMER_REAL, &Never, NULL);
  printf("%ld %d\n", Total, Jumps >= 30);
  return Status;
}
