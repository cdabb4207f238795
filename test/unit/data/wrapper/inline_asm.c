unsigned long spin(unsigned long n) {
  unsigned long done = 0;
  for (unsigned long i = 0; i < n; i++) {
    __asm__ volatile("# {between} \"quotes\"\n\tnop" : "+r"(done));
    done += i;
  }
  return done;
}
