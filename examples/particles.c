// An array of structures: for `incc-diff --run gcc-12 --flags=-O2 --flags=-O3 -- -march=skylake-avx512 examples/particles.c`.
// A particle is six floats, and three of them change. Two fit a vector of 64 bits, which gcc 12 makes use of at -O2; -O3
// takes two particles at once, and moves their floats between lanes for more cycles than the wider operations save.
struct particle {
  float x, y, z;
  float vx, vy, vz;
};

void move(struct particle *particles, float time, long n) {
  for (long i = 0; i < n; ++i) {
    particles[i].x += particles[i].vx * time;
    particles[i].y += particles[i].vy * time;
    particles[i].z += particles[i].vz * time;
  }
}
