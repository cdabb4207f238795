// Loads and unloads libraries again and again while other threads use further ones.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static char **Names;
static volatile int Ended;

static long call(const char *Name, long N, int Unload) {
  void *Library = dlopen(Name, RTLD_NOW);
  if (!Library)
    return -1;
  long (*Function)(long) = (long (*)(long))dlsym(Library, "plugin");
  long Result = Function(N);
  if (Unload)
    dlclose(Library);
  return Result;
}

static void *use(void *Argument) {
  long Total = 0, Values[64];
  while (!Ended) {
    for (int I = 0; I < 64; ++I)
      Values[I] = I;
    for (int I = 0; I < 64; ++I)
      Total += Values[I];
    Total -= 2016 + call(Names[1], 1, 0) - call(Names[1], 1, 0);
  }
  (void)Argument;
  return (void *)Total;
}

int main(int Count, char **Words) {
  pthread_t Threads[4];
  long Total = 0;
  Names = Words;
  for (int I = 0; I < 4; ++I)
    pthread_create(&Threads[I], NULL, use, NULL);
  for (int Round = 0; Round < 40; ++Round)
    for (int I = 2; I < Count; ++I)
      Total += call(Words[I], I, 1);
  Ended = 1;
  for (int I = 0; I < 4; ++I) {
    void *Result;
    pthread_join(Threads[I], &Result);
    Total += (long)Result;
  }
  printf("%ld\n", Total);
  return 0;
}
