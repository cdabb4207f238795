#include <cstddef>
#include <vector>

template <class T> T total(const std::vector<T> &v) {
  T s{};
  for (const T &x : v)
    s += x;
  return s;
}

template double total(const std::vector<double> &);
template unsigned char total(const std::vector<unsigned char> &);

void grow(std::vector<int> &v, std::size_t n) {
  for (std::size_t i = 0; i < n; i++)
    v.push_back(static_cast<int>(i * i));
}
