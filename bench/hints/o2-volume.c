// rule: scalar-arithmetic
// options for gcc: -O2
// options for clang: -O1
// n: 2048
// data: int int int
void kernel(short *a, const short *b, short *c, long n) {
  for (long i = 0; i < n; i++)
    a[i] = (short)(b[i] * 77 >> 7);
}
