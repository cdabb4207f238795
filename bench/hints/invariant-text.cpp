// rule: invariant-access
// data: byte byte byte
// n: 16384
struct Buffer {
  char *begin;
  long size;
  __attribute__((noinline)) void copy(const char *from) {
#ifdef CHANGED
    char *to = begin;
    long count = size;
    for (long i = 0; i < count; ++i)
      to[i] = from[i] ^ 1;
#else
    for (long i = 0; i < size; ++i)
      begin[i] = from[i] ^ 1;
#endif
  }
};
extern "C" void kernel(const char *a, char *b, double *c, long n) {
  Buffer buffer = {b, n};
  __asm__ volatile("" : : "r"(&buffer) : "memory");
  buffer.copy(a);
}
