// rule: memory-chain
// options: -O2
// data: float float float
struct account {
  float balance;
};
void kernel(const float *amount, struct account *account, float *statement, int n) {
#ifdef CHANGED
  float balance = account->balance;
  for (int i = 0; i < n; i++)
    statement[i] = balance += amount[i];
  account->balance = balance;
#else
  for (int i = 0; i < n; i++) {
    account->balance += amount[i];
    statement[i] = account->balance;
  }
#endif
}
