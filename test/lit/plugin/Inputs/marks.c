void scale(float *a, int n) {
#pragma incc analyze mcpu(znver4) expect(cycles < 0.1)
  for (int i = 0; i < n; ++i)
    a[i] *= 2;
}
