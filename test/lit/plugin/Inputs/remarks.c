void f(volatile int *a, int n) {
#pragma clang loop vectorize_width(4)
  for (int i = 0; i < n; ++i)
    a[i] += 1;
}
void g(int *a, int n) {
  for (int i = 0; i < n; ++i)
    a[i] += 1;
}
