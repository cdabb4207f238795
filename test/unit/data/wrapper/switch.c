/* A jump table, a computed goto, and a loop with several exits. */
int run(const unsigned char *code, int n) {
  int a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    switch (code[i]) {
    case 0: a += b; break;
    case 1: a -= b; break;
    case 2: a *= 3; break;
    case 3: b ^= a; break;
    case 4: b <<= 1; break;
    case 5: a = b; break;
    case 6: return a;
    default: return -1;
    }
  }
  return a + b;
}

int threaded(const int *code) {
  static void *const labels[] = {&&add, &&negate, &&stop};
  int a = 0;
  goto *labels[*code];
add:
  a += *++code;
  goto *labels[*++code];
negate:
  a = -a;
  goto *labels[*++code];
stop:
  return a;
}
