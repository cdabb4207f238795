void saxpy(float *restrict y, const float *restrict x, float a, int n) {
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}
#pragma clang diagnostic ignored "-Wdollar-in-identifier-extension"
float last$2(float s, const float *a, int n) {
  for (int i = 0; i < n; i++)
    s = s / a[i];
  return s;
}
