// rule: partly-used-lines
// options: -O3 -ffast-math
// memory: 134217728
// n: 2097152
struct Particle {
  double x, y, z, vx, vy, vz, mass, charge;
};
extern "C" double kernel(const double *a, const double *b, double *c, long n) {
  double sum = 0;
#ifdef CHANGED
  for (long i = 0; i < n; ++i)
    sum += a[i];
#else
  const Particle *p = (const Particle *)a;
  for (long i = 0; i < n; ++i)
    sum += p[i].mass;
#endif
  return sum;
}
