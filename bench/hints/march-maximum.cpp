// rule: instruction-set
// march:
// n: 2048
// data: int int int
#include <algorithm>
extern "C" void kernel(const int *a, const int *b, int *c, long n) {
  std::transform(a, a + n, b, c, [](int x, int y) { return std::max(x, y); });
}
