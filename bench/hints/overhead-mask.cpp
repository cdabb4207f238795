// rule: loop-overhead
// march: haswell
// mcpu: haswell
// options: -O2 -fno-tree-vectorize
// data: long long long
extern "C" long kernel(const unsigned long *a, const unsigned long *b, unsigned long *__restrict c, long n) {
  unsigned long both = 0, some = 0;
  for (const unsigned long *end = a + n; a != end; ++a, ++b, ++c) {
    const unsigned long masked = *a & *b;
    both |= masked;
    some ^= *a;
    *c = masked;
  }
  return both + some;
}
