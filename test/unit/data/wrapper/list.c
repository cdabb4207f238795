struct node {
  struct node *next;
  int value;
};

int sum(const struct node *n) {
  int total = 0;
  for (; n; n = n->next)
    total += n->value;
  return total;
}

struct node *reverse(struct node *n) {
  struct node *done = 0;
  while (n) {
    struct node *next = n->next;
    n->next = done;
    done = n;
    n = next;
  }
  return done;
}
