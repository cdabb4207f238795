#include <algorithm>
#include <cstddef>
#include <cstdint>

// Return the sum of the places of keys in a sorted table.
extern "C" size_t binary_search(const int32_t *table, size_t size, const int32_t *keys, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += std::lower_bound(table, table + size, keys[i]) - table;
  return sum;
}
