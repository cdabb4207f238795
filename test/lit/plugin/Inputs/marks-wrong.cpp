#pragma incc
int a;
#pragma incc analyse name(misspelled)
void f(int *p, int n) { while (n--) p[n] = 1; }
#pragma incc optimise
int g(int *p, int n) {
  int s = 0;
#pragma incc analyze nmae(dot) name(other) cpu(znver4)
  for (int i = 0; i < n; ++i)
    s += p[i];
#pragma incc analyze colour(red) expect(cycles <= (99)
  for (int i = 0; i < n; ++i)
    s += p[i];
#pragma incc analyze name sum mcpu znver4 expect cycles < 2
  for (int i = 0; i < n; ++i)
    s += p[i];
#pragma incc analyze name() expect() name(two words) mcpu(a/b, znver4)
  for (int i = 0; i < n; ++i)
    s += p[i];
#pragma incc analyze ; name(x)
  while (n--)
    s ^= n;
#pragma incc analyze name
  return s;
}
[[incc::analyze(naem(k))]] int k(int *p, int n) {
  [[incc::analyze]] n++;
  while (n--) p[n] = 1;
  return 0;
}
[[incc::analyze]] int b;
#pragma incc analyze
struct s { int a; };
