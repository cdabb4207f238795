__thread int counter;
extern int elsewhere(int) __attribute__((weak));
static volatile int flag;

__attribute__((noinline, cold)) static void slow(int i) { flag = i; }

int twice(int *a, int n) {
  for (int i = 0; i < n; i++) {
    if (__builtin_expect(a[i] < 0, 0))
      slow(i);
    counter += a[i];
  }
  return elsewhere ? elsewhere(counter) : counter;
}
