// rule: not-optimised
// options: -Wall
// data: int int int
int kernel(const int *a, const int *b, int *c, long n) {
  int sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}
