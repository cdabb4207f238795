// rule: memory-chain
struct Filter {
  double level, rate;
  double step(double x) { return level += rate * (x - level); }
};
extern "C" void kernel(const double *x, Filter *filter, double *out, long n) {
#ifdef CHANGED
  Filter local = *filter;
  for (long i = 0; i < n; ++i)
    out[i] = local.step(x[i]);
  *filter = local;
#else
  for (long i = 0; i < n; ++i)
    out[i] = filter->step(x[i]);
#endif
}
