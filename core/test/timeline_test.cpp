#include "incc/timeline.h"

#include "builder.h"
#include "check.h"

#include <stdexcept>

using namespace incc;
using namespace incc::test;

void incc::test::testTimeline() {
  Builder B;
  B.uop(0b11).result(1, {{1, 4}}).end();
  Timeline T = runTimeline(B.K, 100);
  CHECK(T.Events.size() == 100 && T.Ports.size() == 100);
  CHECK(T.Events[0].Started == 1 && T.Events[0].Executed == 5 && T.Events[0].Retired == 6);
  CHECK(T.Events[99].Executed == 5 + 99 * 4);

  // Cut at cycle 3: four instructions are dispatched in each cycle.
  T = runTimeline(B.K, 100, 3);
  CHECK(T.Events.size() == 12);
  CHECK(T.Events.back().Retired == 6 + 11 * 4);

  // A full reorder buffer holds the front end back.
  B.K.Rob = 2;
  T = runTimeline(B.K, 4);
  CHECK(T.Events[2].Dispatched == T.Events[0].Retired);

  CHECK(runTimeline(B.K, 0).Events.empty());
  CHECK(runTimeline(Builder().K, 5).Events.empty());
  CHECK_THROWS(runTimeline(B.K, -1), std::invalid_argument);
}
