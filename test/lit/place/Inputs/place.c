static inline void axpy(int n, double a, const double *x, double *y) {
  for (int i = 0; i < n; ++i)
    y[i] += a * x[i];
}

void solve(int n, double *x, double *y) { axpy(n, 3, x, y); }

void zero(int n, double *restrict x) {
  for (int i = 0; i < n; ++i)
    x[i] = 0;
}

double third(double x) { return x / 3; }

double squares(int n, const double *x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sum;
}
