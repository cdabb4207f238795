#include "incc/rational.h"

#include "check.h"

using namespace incc;

void incc::test::testRational() {
  CHECK(Rational() == Rational(0, 7));
  CHECK(Rational(6, 4) == Rational(3, 2));
  CHECK(Rational(6, 4).numerator() == 3 && Rational(6, 4).denominator() == 2);
  CHECK(Rational(1, -2) == Rational(-1, 2));
  CHECK(Rational(1, -2).denominator() == 2);
  CHECK(Rational(1, 3) + Rational(1, 6) == Rational(1, 2));
  CHECK(Rational(1, 3) < Rational(334, 1000));
  CHECK(Rational(INT64_MAX, 2) > Rational(INT64_MAX, 3));
  CHECK(Rational(7, 2).toDouble() == 3.5);
  CHECK_THROWS(Rational(1, 0), std::domain_error);
  CHECK_THROWS(Rational(INT64_MAX) + Rational(1), std::overflow_error);
}
