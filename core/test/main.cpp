//===- main.cpp - The core's unit tests -----------------------------------===//

#include "check.h"

using namespace incc::test;

int main() {
  testRational();
  testPorts();
  testGraph();
  testCycles();
  testSimulation();
  testStatistics();
  testPortBinding();
  std::cout << "core: " << Checks - Failures << " passed, " << Failures << " failed\n";
  return Failures == 0 ? 0 : 1;
}
