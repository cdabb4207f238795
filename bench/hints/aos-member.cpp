// rule: strided
// options: -O3 -ffast-math
// n: 512
struct Particle {
  float x, y, z, vx, vy, vz, mass, charge;
};
extern "C" float kernel(const float *a, const float *b, float *c, long n) {
  float energy = 0;
#ifdef CHANGED
  for (long i = 0; i < n; ++i)
    energy += a[i] * b[i];
#else
  const Particle *p = (const Particle *)a;
  for (long i = 0; i < n; ++i)
    energy += p[i].vx * p[i].mass;
#endif
  return energy;
}
