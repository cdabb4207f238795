// Children of all kinds that go on with loops: fork inside of a loop, grandchildren, vfork, posix_spawn, clone.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static long Values[64];

NOINLINE static long sum(const long *Of, long N) {
  long Sum = 0;
  for (long I = 0; I < N; ++I)
    Sum += Of[I];
  return Sum;
}

// Loops of which each is new to the process that runs it.
NOINLINE static long fresh(long N) {
  long A = 1, B = 1, C = 1;
  for (long I = 0; I < N; ++I)
    A += A * I ^ Values[I & 63];
  for (long I = 0; I < N; ++I)
    B ^= (B << 1) + Values[I & 63];
  for (long I = N; I > 0; I -= 2)
    C -= C * 3 ^ I;
  return A ^ B ^ C;
}

static int status(pid_t Child) {
  int Status;
  if (Child < 0 || waitpid(Child, &Status, 0) != Child)
    return 100;
  return WIFEXITED(Status) ? WEXITSTATUS(Status) : 200;
}

static int compute(int Rounds) {
  long Total = 0;
  for (int I = 0; I < Rounds; ++I)
    Total += sum(Values, 64) + fresh(20);
  return Total == Rounds * (2016 + fresh(20)) ? 5 : 1;
}

int main(int Count, char **Words) {
  extern char **environ;
  for (long I = 0; I < 64; ++I)
    Values[I] = I;
  if (Count > 1)
    return compute(20);
  long Statuses = 0;
  // The child leaves a loop that the parent has entered.
  for (int I = 0; I < 3; ++I) {
    pid_t Child = fork();
    if (!Child) {
      if (!fork())
        _exit(compute(40));
      int Status;
      wait(&Status);
      exit(compute(10) + WEXITSTATUS(Status));
    }
    Statuses += status(Child);
  }
  pid_t Child = vfork();
  if (!Child) {
    execl(Words[0], Words[0], "child", (char *)NULL);
    _exit(99);
  }
  Statuses += status(Child);
  char *Arguments[] = {Words[0], (char *)"child", NULL};
  if (posix_spawn(&Child, Words[0], NULL, NULL, Arguments, environ) == 0)
    Statuses += status(Child);
  // A child that the library does not know of runs beside its parent.
  for (int I = 0; I < 20; ++I) {
    Child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!Child)
      _exit(compute(I < 10 ? 3 : 300));
    for (int J = 0; J < 100; ++J)
      Statuses += compute(3) - 5;
    Statuses += status(Child);
  }
  Statuses += compute(50);
  printf("%ld\n", Statuses);
  return 0;
}
