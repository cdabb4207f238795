// rule: stored-accumulator
// data: int int int
void kernel(const int *a, const int *b, int *c, long n) {
#ifdef CHANGED
  int count = *c;
  for (long i = 0; i < n; ++i)
    count += a[i] > b[i];
  *c = count;
#else
  for (long i = 0; i < n; ++i)
    *c += a[i] > b[i];
#endif
}
