// Return the energy of a particle at (px, py, pz) among others, and add their forces on it.
double lennard_jones(const double *x, const double *y, const double *z, int count, double px, double py, double pz,
                     double force[3]) {
  double energy = 0, fx = 0, fy = 0, fz = 0;
  for (int i = 0; i < count; i++) {
    double dx = px - x[i], dy = py - y[i], dz = pz - z[i];
    double inverse = 1 / (dx * dx + dy * dy + dz * dz);
    double sixth = inverse * inverse * inverse;
    double f = 24 * sixth * (2 * sixth - 1) * inverse;
    energy += 4 * sixth * (sixth - 1);
    fx += f * dx;
    fy += f * dy;
    fz += f * dz;
  }
  force[0] = fx;
  force[1] = fy;
  force[2] = fz;
  return energy;
}
