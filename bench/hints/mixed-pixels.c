// rule: conversions
// n: 2048
// data: int float float
void kernel(const int *pixel, const float *unused, float *restrict level, long n) {
  for (long i = 0; i < n; ++i)
#ifdef CHANGED
    level[i] = pixel[i] * 0.00392157f;
#else
    level[i] = pixel[i] * 0.00392157;
#endif
}
