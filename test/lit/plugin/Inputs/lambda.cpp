// All of what these loops do is inlined into them. No headers: for any standard library.
template <class F> inline void each(float *first, float *last, F f) {
  for (; first != last; ++first)
    f(*first);
}
extern "C" void scale(float *a, long n, float k) {
  each(a, a + n, [k](float &x) { x *= k; });
}
