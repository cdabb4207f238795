//===- tied.cpp - Run a program that dies with its starter ----------------===//
//
// `tied PARENT SIGNAL PROGRAM NAME ARGUMENT…` replaces itself by PROGRAM,
// called NAME, after asking the kernel to send it a signal when the process
// PARENT ends for any reason. Python starts assemblers and compilers through it
// (support/signals.py), since it cannot run code between fork and exec without
// copying itself.
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
    return 127; // the parent has ended already
  execv(Values[3], Values + 4);
  return 127;
}
