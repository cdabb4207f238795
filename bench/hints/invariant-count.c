// rule: invariant-access
// data: int int int
struct numbers {
  int count;
  int *of;
};
__attribute__((noinline)) static void shift(struct numbers *numbers, int by) {
#ifdef CHANGED
  int count = numbers->count;
  for (int i = 0; i < count; ++i)
    numbers->of[i] += by;
#else
  for (int i = 0; i < numbers->count; ++i)
    numbers->of[i] += by;
#endif
}
void kernel(int *a, const double *b, double *c, long n) {
  struct numbers numbers = {n, a};
  __asm__ volatile("" : : "r"(&numbers) : "memory");
  shift(&numbers, 3);
}
