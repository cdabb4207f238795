#include "incc/ports.h"

#include "builder.h"
#include "check.h"

#include <cmath>

using namespace incc;
using namespace incc::test;

static bool near(double A, double B) { return std::abs(A - B) < 1e-9; }

void incc::test::testPorts() {
  // With two loads and one store, the store's address leaves no room on ports 2 and 3.
  Builder B;
  B.load(1, 0, 0).load(2, 0, 8).store(1, 0, 16);
  PortPressure P = balancedPressure(B.K, portWork(B.K));
  CHECK(P.Bound == Rational(3, 2));
  CHECK(P.Busiest == 0b1100);
  CHECK(near(P.Load[2], 1.5) && near(P.Load[3], 1.5) && near(P.Load[4], 1));
  CHECK(near(P.Pressure[2], 0.5) && near(P.Pressure[3], 0.5));

  // Work that can move to other ports makes room for work that cannot.
  Builder Way;
  Way.uop(0b001).end().uop(0b001).end().uop(0b111).end().uop(0b011).end();
  P = balancedPressure(Way.K, portWork(Way.K));
  CHECK(P.Bound == Rational(2));
  CHECK(P.Busiest == 0b001);
  CHECK(near(P.Load[1], 1) && near(P.Load[2], 1));
  P = fixedPressure(Way.K, portWork(Way.K));
  CHECK(P.Bound == Rational(2) + Rational(1, 3) + Rational(1, 2));

  Builder Divider;
  Divider.uop(0b1).uop(uint64_t(1) << 8, 4).end().uop(0b1).uop(uint64_t(1) << 8, 5).end();
  CHECK(balancedPressure(Divider.K, portWork(Divider.K)).Bound == Rational(2));
  CHECK(resourceBound(Divider.K) == Rational(9));
  CHECK(frontEndBound(Divider.K) == Rational(1, 2));
}
