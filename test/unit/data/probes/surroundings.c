// Closes what it has not opened, changes its folder and its limits, and ends in the way that is named.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

NOINLINE static long alternate(const long *Values, long N) {
  long Sum = 1;
  for (long I = 0; I < N; ++I)
    Sum = Values[I] - Sum * 3;
  return Sum;
}

int main(int Count, char **Words) {
  int AtStart = errno;
  static long Values[100];
  const char *Way = Count > 1 ? Words[1] : "";
  long Total = 0;
  for (long I = 0; I < 100; ++I)
    Values[I] = I;
  if (!strcmp(Way, "close"))
    for (int I = 3; I < 1024; ++I)
      close(I);
  if (!strcmp(Way, "files"))
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3});
  if (!strcmp(Way, "size"))
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
  if (!strcmp(Way, "memory"))
    setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, 1 << 20});
  if (!strcmp(Way, "chroot") && (chroot(".") || chdir("/")))
    return 9;
  if (!strcmp(Way, "folder") && chdir("/"))
    return 9;
  errno = 42;
  for (int Round = 0; Round < 200; ++Round)
    Total += sum(Values, 100) + alternate(Values, 1 + Round % 100);
  if (errno != 42 || AtStart)
    return 8;
  char Text[100];
  int Size = snprintf(Text, sizeof Text, "%ld %d\n", Total, open("/", O_RDONLY));
  if (write(1, Text, (size_t)Size) != Size)
    return 7;
  if (!strcmp(Way, "_exit"))
    _exit(4);
  if (!strcmp(Way, "abort"))
    abort();
  if (!strcmp(Way, "kill"))
    raise(SIGKILL);
  if (!strcmp(Way, "fault"))
    *(volatile int *)8 = 1;
  return 0;
}
