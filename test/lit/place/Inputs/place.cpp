#include "vec.h"
#include <algorithm>
#include <functional>
#include <vector>

void scale(std::vector<double> &a, const std::vector<double> &b) {
  std::transform(b.begin(), b.end(), a.begin(),
                 [](double x) { return x * 3; });
}

void twice(Vec<float> &v) {
  v.apply([](float x) { return x + x; });
}

void order(std::vector<int> &a) { std::sort(a.begin(), a.end()); }
