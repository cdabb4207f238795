#include "incc/graph.h"
#include "incc/path.h"

#include "builder.h"
#include "check.h"

#include <stdexcept>

using namespace incc;
using namespace incc::test;

void incc::test::testGraph() {
  // Register 1 from the same iteration, register 2 from the one before.
  Builder B;
  B.uop(1).result(1, {{2, 3}}).end().uop(1).result(2, {{1, 4}, {3, 9}}).end();
  validate(B.K);
  Graph G = buildGraph(B.K);
  CHECK(G.Edges.size() == 2);
  CHECK(G.Edges[0].Producer == 0 && G.Edges[0].Consumer == 1 && G.Edges[0].Distance == 0);
  CHECK(G.Edges[1].Producer == 1 && G.Edges[1].Consumer == 0 && G.Edges[1].Distance == 1);
  CHECK(G.Edges[1].Latency == 3 && G.Edges[1].Location == 2);

  // Register 3 comes from outside and is later than the path through the iteration.
  CriticalPath Path = findCriticalPath(B.K, G);
  CHECK(Path.Cycles == 9 && Path.Start == 9);
  CHECK(Path.Instructions == std::vector<int32_t>{1});

  // a[i] = a[i - 2]
  Builder Memory;
  Memory.load(1, 0, -16).store(1, 0, 0).add(0, 8);
  std::vector<MemoryDependency> Found = memoryDependencies(Memory.K);
  CHECK(Found.size() == 1);
  CHECK(Found[0].Distance == 2 && Found[0].Latency == 4);
  CHECK(Found[0].Store == 2 && Found[0].Load == 0);

  Kernel Wrong = Memory.K;
  Wrong.InputId[0] = 16;
  CHECK_THROWS(validate(Wrong), std::invalid_argument);
}
