//===- tied.cpp - A program that dies with the process that started it ----===//
//
// `tied PARENT SIGNAL PROGRAM NAME ARGUMENT…` becomes PROGRAM, called NAME, and has the kernel send
// it a signal when the process PARENT ends, however that ends. Python starts assemblers and
// compilers through it (support/signals.py), since it cannot run code between fork and exec without
// a copy of itself.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <sys/prctl.h>
#include <unistd.h>

int main(int Count, char **Values) {
  if (Count < 5)
    return 2;
  prctl(PR_SET_PDEATHSIG, atoi(Values[2]));
  if (getppid() != atoi(Values[1]))
    return 127; // it has ended already
  execv(Values[3], Values + 4);
  return 127;
}
