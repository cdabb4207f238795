typedef struct {
  int next;
  int value;
} Node;

// Sum a list whose nodes refer to each other by index; -1 ends it.
long list_sum(const Node *nodes, int first) {
  long sum = 0;
  for (int i = first; i >= 0; i = nodes[i].next)
    sum += nodes[i].value;
  return sum;
}
