#include <string>

// Constructors before main, a function-local static and its guard.
static std::string greeting = "hello";
struct Counter {
  int n = 0;
  ~Counter() { n = -1; }
};

int next() {
  static Counter counter;
  return ++counter.n + static_cast<int>(greeting.size());
}
