//===- check.h - Support for the core's unit tests ------------------------===//

#ifndef INCC_TEST_CHECK_H
#define INCC_TEST_CHECK_H

#include <iostream>

namespace incc::test {

inline int Checks = 0;
inline int Failures = 0;

inline void check(bool Holds, const char *Expression, const char *File, int Line) {
  ++Checks;
  if (Holds)
    return;
  ++Failures;
  std::cerr << File << ':' << Line << ": not so: " << Expression << '\n';
}

// Each file of tests defines one of these.
void testRational();
void testPorts();
void testGraph();
void testCycles();
void testSimulation();
void testStatistics();
void testPortBinding();

} // namespace incc::test

#define CHECK(Expression) ::incc::test::check((Expression), #Expression, __FILE__, __LINE__)

#define CHECK_THROWS(Expression, Exception)                                                        \
  do {                                                                                             \
    bool Thrown = false;                                                                           \
    try {                                                                                          \
      (void)(Expression);                                                                          \
    } catch (const Exception &) {                                                                  \
      Thrown = true;                                                                               \
    }                                                                                              \
    ::incc::test::check(Thrown, #Expression " throws " #Exception, __FILE__, __LINE__);            \
  } while (false)

#endif // INCC_TEST_CHECK_H
