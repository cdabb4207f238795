// Threads that come and go, some of which are cancelled; each checks what its loops have computed.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

NOINLINE static int count(const char *Text) {
  int N = 0;
  while (*Text++)
    ++N;
  return N;
}

static pthread_key_t Key;

static void atEnd(void *Argument) {
  long Values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  if (sum(Values, 10) != 55)
    _exit(9);
  free(Argument);
}

static void *work(void *Argument) {
  long Values[100], Own = (long)Argument, Total = 0;
  // The second time, destructors of this key run loops of a thread whose probes have ended.
  pthread_setspecific(Key, malloc(1));
  for (long I = 0; I < 100; ++I)
    Values[I] = I * Own;
  errno = 77;
  for (int Round = 0; Round < 100; ++Round)
    Total += sum(Values, 100) + count("some text");
  if (errno != 77)
    _exit(8);
  return (void *)Total;
}

// There is no place in it where the thread may be cancelled.
NOINLINE static long locked(pthread_mutex_t *Lock) {
  static long Values[50];
  pthread_mutex_lock(Lock);
  for (long I = 0; I < 50; ++I)
    Values[I] += I;
  long Sum = sum(Values, 50) + count("a");
  pthread_mutex_unlock(Lock);
  return Sum;
}

static pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;

static void *cancelled(void *Argument) {
  (void)Argument;
  pthread_cancel(pthread_self());
  locked(&Lock);
  pthread_testcancel();
  return NULL;
}

int main(void) {
  long Total = 0;
  pthread_key_create(&Key, atEnd);
  for (int Wave = 0; Wave < 20; ++Wave) {
    pthread_t Threads[32], Other;
    for (long I = 0; I < 32; ++I)
      if (pthread_create(&Threads[I], NULL, work, (void *)I))
        return 7;
    if (pthread_create(&Other, NULL, cancelled, NULL))
      return 7;
    for (int I = 0; I < 32; ++I) {
      void *Result;
      pthread_join(Threads[I], &Result);
      Total += (long)Result;
    }
    pthread_join(Other, NULL);
    if (pthread_mutex_trylock(&Lock))
      return 6;
    pthread_mutex_unlock(&Lock);
  }
  printf("%ld\n", Total);
  return 0;
}
