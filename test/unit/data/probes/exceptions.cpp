// Exceptions that are thrown through loops, and caught inside of them.
#include <cstdio>
#include <stdexcept>
#include <vector>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

struct Guard {
  long &Count;
  ~Guard() { ++Count; }
};

NOINLINE long mayThrow(long I) {
  if (I % 7 == 3)
    throw std::runtime_error("seven");
  return I;
}

NOINLINE long through(const std::vector<long> &Values, long &Guards) {
  long Sum = 0;
  for (long Value : Values) {
    Guard Own{Guards};
    Sum += mayThrow(Value);
  }
  return Sum;
}

NOINLINE long inside(const std::vector<long> &Values) {
  long Sum = 0, Caught = 0;
  for (unsigned I = 0; I < Values.size(); ++I) {
    try {
      Sum += mayThrow(Values[I]) * I;
    } catch (const std::runtime_error &Error) {
      Caught += Error.what()[0] + I;
    }
  }
  return Sum * 1000 + Caught;
}

NOINLINE long deep(long Depth, long &Guards) {
  Guard Own{Guards};
  long Sum = 0;
  for (long I = 0; I < 3; ++I)
    Sum += Depth ? deep(Depth - 1, Guards) : mayThrow(I + 1);
  return Sum;
}

int main() {
  long Guards = 0, Total = 0;
  std::vector<long> Values;
  for (long I = 0; I < 200; ++I)
    Values.push_back(I);
  for (long Round = 0; Round < 300; ++Round) {
    Values[0] = Round;
    try {
      Total += through(Values, Guards);
    } catch (const std::exception &) {
      Total += 3;
    }
    Total += inside(Values);
    try {
      Total += deep(5, Guards);
    } catch (const std::exception &) {
      Total -= 1;
    }
  }
  std::printf("%ld %ld\n", Total, Guards);
}
