// Loops of C++ as they were; after.cpp has what became of them.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace image {
template <class T> void brighten(std::vector<T> &pixels, T by) {
  for (T &pixel : pixels) // loop: brighten
    pixel += by;
}

struct Filter {
  double weights[5];
  void apply(const double *in, double *out, long n) const;
};

void Filter::apply(const double *in, double *out, long n) const {
  for (long i = 2; i < n - 2; ++i) { // loop: filter
    double sum = 0;
    for (int k = 0; k < 5; ++k)
      sum += weights[k] * in[i + k - 2];
    out[i] = sum;
  }
}
} // namespace image

template void image::brighten<float>(std::vector<float> &, float);
template void image::brighten<int>(std::vector<int> &, int);

double inner(const std::vector<double> &a, const std::vector<double> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); // loop: inner
}

long count_negative(const std::vector<int> &a) {
  return std::count_if(a.begin(), a.end(), [](int v) { return v < 0; }); // loop: count-negative
}

void absolute(std::vector<float> &a) {
  std::transform(a.begin(), a.end(), a.begin(), [](float v) { return v < 0 ? -v : v; }); // loop: absolute
}
