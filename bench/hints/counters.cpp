// rule: memory-chain
// data: byte long long
struct Counters {
  long bytes, words;
};
extern "C" void kernel(const unsigned char *a, Counters *counters, long *c, long n) {
#ifdef CHANGED
  long words = counters->words, sum = *c;
  for (long i = 0; i < n; ++i) {
    words += a[i] == ' ';
    sum += a[i] ^ words;
  }
  counters->words = words;
  *c = sum;
#else
  for (long i = 0; i < n; ++i) {
    counters->words += a[i] == ' ';
    *c += a[i] ^ counters->words;
  }
#endif
}
