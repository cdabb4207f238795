// rule: failing-check
// data: int int int
// n: 262144
struct Graph {
  unsigned *edge;
  long size;
  unsigned *row(long i) { return edge + i * size; }
};
__attribute__((noinline)) static void close(Graph &graph) {
  for (long k = 0; k < graph.size; ++k)
    for (long i = 0; i < graph.size; ++i) {
      unsigned *to = graph.row(i);
      const unsigned *from = graph.row(k);
      const long n = graph.size;
#ifdef CHANGED
      const unsigned reached = to[k];
#if defined CHANGED && defined __clang__
#pragma clang loop vectorize(assume_safety)
#endif
      for (long j = 0; j < n; ++j)
        to[j] |= reached & from[j];
#else
#if defined CHANGED && defined __clang__
#pragma clang loop vectorize(assume_safety)
#endif
      for (long j = 0; j < n; ++j)
        to[j] |= to[k] & from[j];
#endif
    }
}
extern "C" void kernel(unsigned *a, const double *b, double *c, long n) {
  Graph graph{a, n >> 12};
  close(graph);
}
