// rule: not-optimised
// options: -Og
// data: byte byte byte
extern "C" long kernel(const char *a, const char *b, char *c, long n) {
  long count = 0;
  for (long i = 0; i < n; ++i)
    count += a[i] == 'x';
  return count;
}
