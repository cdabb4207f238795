#pragma once
#include <cstddef>
template <class T> struct Vec {
  T *data;
  std::size_t size;
  template <class F> void apply(F f) {
    for (std::size_t i = 0; i < size; ++i)
      data[i] = f(data[i]);
  }
};
