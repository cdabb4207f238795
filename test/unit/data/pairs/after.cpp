// What became of the loops of before.cpp.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

void magnitudes(std::vector<float> &values) {
  for (float &v : values) // loop: magnitudes
    v = v < 0 ? -v : v;
}

namespace picture {
struct Filter {
  double weights[5];
  void run(const double *in, double *out, long n) const;
};

void Filter::run(const double *in, double *out, long n) const {
  const double *middle = in;
  for (long i = 2; i < n - 2; ++i) { // loop: convolve
    double sum = 0;
    for (int k = 0; k < 5; ++k)
      sum += weights[k] * middle[i + k - 2];
    out[i] = sum;
  }
}

template <class T> void brighten(std::vector<T> &pixels, T by) {
  if (by == 0)
    return;
  for (T &pixel : pixels) // loop: lighten
    pixel += by;
}
} // namespace picture

template void picture::brighten<float>(std::vector<float> &, float);
template void picture::brighten<double>(std::vector<double> &, double);

long count_negative(const std::vector<int> &a) {
  long count = 0;
  for (int v : a) // loop: negatives
    count += v < 0;
  return count;
}

double inner(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) // loop: inner-loop
    sum += a[i] * b[i];
  return sum;
}
