// Write how often each point of a row is iterated, and return the sum.
long mandelbrot(double left, double step, double y, int *counts, int width, int limit) {
  long total = 0;
  for (int x = 0; x < width; x++) {
    double cr = left + x * step, zr = 0, zi = 0;
    int count = 0;
    while (count < limit && zr * zr + zi * zi < 4) {
      double t = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + y;
      zr = t;
      count++;
    }
    counts[x] = count;
    total += count;
  }
  return total;
}
