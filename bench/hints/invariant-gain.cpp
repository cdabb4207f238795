// rule: invariant-access
// data: byte byte byte
// n: 16384
#include <vector>
struct Filter {
  std::vector<unsigned char> pixels;
  int gain;
  __attribute__((noinline)) void apply() {
#ifdef CHANGED
    unsigned char *to = pixels.data();
    unsigned long count = pixels.size();
    int by = gain;
    for (unsigned long i = 0; i < count; ++i)
      to[i] *= by;
#else
    for (unsigned long i = 0; i < pixels.size(); ++i)
      pixels[i] *= gain;
#endif
  }
};
extern "C" void kernel(const char *a, char *b, double *c, long n) {
  static Filter filter = {std::vector<unsigned char>(n), 3};
  filter.apply();
}
