// rule: scalar-arithmetic
// options for gcc: -O2
// options for clang: -O1
// data: int int int
unsigned kernel(const unsigned *a, const unsigned *b, unsigned *c, long n) {
  unsigned check = 0;
  for (const unsigned *p = a, *end = a + n; p != end; ++p)
    check ^= (*p << 3) + (*p >> 5);
  return check;
}
