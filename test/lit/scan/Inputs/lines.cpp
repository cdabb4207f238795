namespace {
template <class T>
inline T sum(const T *values, long n) {
  T total = 0;
  for (long i = 0; i < n; ++i)
    total += values[i];
  return total;
} }
double total(const double *a, long n) { return sum(a, n); }

void fill(int *a, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = (int)(i * i);
}
