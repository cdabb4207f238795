template <class T> static inline void add(T *a, const T *b, int i) {
  a[i] += b[i];
}

void sum(double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    add(a, b, i);
}
