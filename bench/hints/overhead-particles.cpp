// rule: loop-overhead
// march: skylake-avx512
// mcpu: skylake-avx512
// options: -O2
// data: float float float
// n: 512
struct Particle {
  float x, y, z, vx, vy, vz;
  void move(float time) {
    x += vx * time;
    y += vy * time;
    z += vz * time;
  }
};
extern "C" void kernel(Particle *particles, const double *b, double *c, long n, double time) {
  for (Particle *p = particles, *end = p + n / 6; p != end; ++p)
    p->move(time);
}
