#include "incc/cycles.h"

#include "builder.h"
#include "check.h"

#include <algorithm>
#include <vector>

using namespace incc;
using namespace incc::test;

void incc::test::testCycles() {
  // Two registers are swapped: no instruction depends on itself before two iterations are over.
  Builder Swap;
  Swap.uop(1).result(1, {{2, 4}}).result(2, {{1, 3}}).end();
  LoopCarried Found = findLoopCarried(buildGraph(Swap.K));
  CHECK(Found.Bound == Rational(7, 2));
  CHECK(Found.Complete && Found.Chains.size() == 1);
  CHECK(Found.Chains[0].Distance == 2 && Found.Chains[0].Steps.size() == 2);

  // A ladder of 20 stages with two ways each has a million cycles; the bound is still exact, and a
  // chain goes through every instruction.
  Builder Ladder;
  for (int32_t Stage = 0; Stage < 20; ++Stage)
    Ladder.uop(1)
        .result(1, {{0, 1}})
        .end()
        .uop(1)
        .result(2, {{0, 5}})
        .end()
        .uop(1)
        .result(0, {{1, 1}, {2, 1}})
        .end();
  ChainLimits Limits;
  Limits.Steps = 1000;
  Found = findLoopCarried(buildGraph(Ladder.K), Limits);
  CHECK(Found.Bound == Rational(20 * 6));
  CHECK(!Found.Complete);
  CHECK(Found.Chains.size() <= Limits.Reported);
  CHECK(Found.Chains[0].ratio() == Found.Bound);
  std::vector<bool> Covered(60, false);
  for (const Chain &C : Found.Chains)
    for (const Edge &E : C.Steps)
      Covered[static_cast<size_t>(E.Producer)] = true;
  CHECK(std::find(Covered.begin(), Covered.end(), false) == Covered.end());

  // Eliminated moves take no time, so there is no chain.
  Builder Idle;
  Idle.result(1, {{1, 0}}).end(NoExecution);
  Found = findLoopCarried(buildGraph(Idle.K));
  CHECK(Found.Bound == Rational(0) && Found.Chains.empty() && Found.Complete);
}
