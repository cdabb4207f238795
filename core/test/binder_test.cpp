#include "sim/ports.h"

#include "builder.h"
#include "check.h"

#include <initializer_list>
#include <vector>

using namespace incc;
using namespace incc::test;

namespace {

/// A binder with µops waiting at its ports.
class Rig {
public:
  Rig(PortBinding Policy, std::initializer_list<int32_t> Waiting,
      std::vector<uint64_t> Alternating = {})
      : P(pipelineOf(B.K, Policy, std::move(Alternating))),
        Whole(B.K, P, computeKernelInfo(B.K, /*LoadAddresses=*/false, /*StoreAddresses=*/false)),
        Binder(Whole) {
    int32_t Port = 0;
    for (int32_t Count : Waiting) {
      for (; Count > 0; --Count)
        Binder.bind(uint64_t(1) << Port, 0);
      ++Port;
    }
    // The ten-port rule sees the state one cycle before.
    Binder.newCycle();
    Binder.newCycle();
  }

  /// Returns the ports that µops with these sets get in the issue slots of a cycle, from `Slot` on.
  std::vector<int32_t> choose(std::initializer_list<uint64_t> Sets, int32_t Slot = 0) {
    std::vector<int32_t> Ports;
    for (uint64_t Set : Sets)
      Ports.push_back(Binder.bind(Set, Slot++));
    return Ports;
  }

private:
  static Pipeline pipelineOf(Kernel &K, PortBinding Policy, std::vector<uint64_t> Alternating) {
    K.NumPorts = 10;
    K.NumColumns = 11;
    Pipeline P = plain(K);
    P.Binding = Policy;
    P.PortsApart = Policy == PortBinding::TenPorts ? 5 : 3;
    P.SlotSet = 0b100011;
    P.SlotPorts = {0, 5, 1, 0, 1, 5, 0, 1, 5, 1, 0, 5};
    P.Alternating = std::move(Alternating);
    return P;
  }

  Builder B;
  Pipeline P;
  sim::Program Whole;

public:
  sim::PortBinder Binder;
};

using Ports = std::vector<int32_t>;
constexpr uint64_t P01 = 0b11, P05 = 0b100001, P15 = 0b100010, P015 = 0b100011, P0156 = 0b1100011,
                   P06 = 0b1000001, P23 = 0b1100, P237 = 0b10001100, P78 = 0b110000000,
                   P49 = 0b1000010000;

/// Sandy Bridge and Ivy Bridge.
void testSixPorts() {
  constexpr PortBinding Six = PortBinding::SixPorts;
  // The three arithmetic ports have a table, indexed by the least used one; ties go to the lower
  // number.
  CHECK(Rig(Six, {}).choose({P015, P015, P015, P015}) == Ports({0, 5, 1, 0}));
  CHECK(Rig(Six, {1, 0, 0, 0, 0, 1}).choose({P015, P015, P015, P015}) == Ports({1, 5, 0, 1}));
  CHECK(Rig(Six, {1, 1, 0, 0, 0, 0}).choose({P015, P015, P015, P015}) == Ports({5, 1, 0, 5}));
  // If two ports are three µops apart, all slots take the least used one.
  CHECK(Rig(Six, {3, 1, 0, 0, 0, 0}).choose({P015, P015, P015, P015}) == Ports({5, 5, 5, 5}));
  CHECK(Rig(Six, {2, 1, 0, 0, 0, 0}).choose({P015, P015}) == Ports({5, 1}));
  // In other sets, even slots take the least used port, odd ones the most used.
  CHECK(Rig(Six, {0, 1}).choose({P01, P01, P01, P01}) == Ports({0, 1, 0, 1}));
  CHECK(Rig(Six, {1, 0}).choose({P01, P01}) == Ports({1, 0}));
  CHECK(Rig(Six, {0, 2, 0, 0, 0, 1}).choose({P15, P15}) == Ports({5, 1}));
  CHECK(Rig(Six, {0, 4, 0, 0, 0, 1}).choose({P15, P15}) == Ports({5, 5}));
}

/// Haswell to Cascade Lake.
void testEightPorts() {
  constexpr PortBinding Eight = PortBinding::EightPorts;
  // Slots 0 and 2 take the least used port, 1 and 3 the second; ties go to the higher number.
  CHECK(Rig(Eight, {}).choose({P0156, P0156, P0156, P0156}) == Ports({6, 5, 6, 5}));
  CHECK(Rig(Eight, {0, 1, 0, 0, 0, 1, 1}).choose({P0156, P0156}) == Ports({0, 6}));
  CHECK(Rig(Eight, {1, 0, 0, 0, 0, 0, 1}).choose({P0156, P0156}) == Ports({5, 1}));
  // The second port is taken unless it has three or more µops more.
  CHECK(Rig(Eight, {2, 0}).choose({P01, P01}) == Ports({1, 0}));
  CHECK(Rig(Eight, {3, 0}).choose({P01, P01}) == Ports({1, 1}));
  // µops bound in this cycle do not count yet.
  CHECK(Rig(Eight, {}).choose({P06, P06, P06, P06}) == Ports({6, 0, 6, 0}));
  CHECK(Rig(Eight, {}).choose({0b1000000, P06}) == Ports({6, 0}));
  // Store addresses follow the same rule as other sets.
  CHECK(Rig(Eight, {0, 0, 1, 0, 0, 0, 0, 1}).choose({P237, P237}) == Ports({3, 7}));
}

/// Ice Lake and newer.
void testTenPorts() {
  constexpr PortBinding Ten = PortBinding::TenPorts;
  // The ports take turns, the least used first; ties go to the higher number.
  CHECK(Rig(Ten, {}).choose({P0156, P0156, P0156}) == Ports({6, 5, 1}));
  CHECK(Rig(Ten, {0, 2, 0, 0, 0, 1, 3}).choose({P0156, P0156, P0156}) == Ports({0, 5, 1}));
  CHECK(Rig(Ten, {}).choose({P06, P06, P06}) == Ports({6, 0, 6}));
  // Every set has a turn of its own.
  CHECK(Rig(Ten, {}).choose({P0156, P06, P0156, P06}) == Ports({6, 6, 5, 0}));
  // Ports with five or more µops more than the least used are skipped.
  CHECK(Rig(Ten, {4, 0}).choose({P01, P01}) == Ports({1, 0}));
  CHECK(Rig(Ten, {5, 0}).choose({P01, P01, P01}) == Ports({1, 1, 1}));
  CHECK(Rig(Ten, {1, 6, 0, 0, 0, 0, 5}).choose({P0156, P0156, P0156}) == Ports({5, 0, 5}));
  // In slot 3 the first µop of a set takes the second port.
  CHECK(Rig(Ten, {}).choose({P06}, 3) == Ports({0}));
  CHECK(Rig(Ten, {}).choose({P0156, P0156, P0156, P0156}) == Ports({6, 5, 1, 0}));
  CHECK(Rig(Ten, {}).choose({P0156, P0156, P0156, P05}) == Ports({6, 5, 1, 0}));
  CHECK(Rig(Ten, {5, 0}).choose({P01}, 3) == Ports({1}));
  // In slot 4 every µop takes the first port.
  CHECK(Rig(Ten, {}).choose({P0156, P0156, P0156, P0156, P0156}) == Ports({6, 5, 1, 0, 6}));
  CHECK(Rig(Ten, {}).choose({P06, P06}, 3) == Ports({0, 6}));

  // The use in the cycle before counts, not the current one.
  Rig Late(Ten, {});
  Late.choose({0b1000000, 0b1000000, 0b1000000});
  Late.Binder.newCycle();
  CHECK(Late.choose({P06}) == Ports({6}));
  Late.Binder.newCycle();
  CHECK(Late.choose({P06}) == Ports({0}));
}

void testWhatAllShare() {
  // The ports of alternating sets take turns across cycles.
  for (PortBinding Policy :
       {PortBinding::SixPorts, PortBinding::EightPorts, PortBinding::TenPorts}) {
    Rig Turns(Policy, {0, 0, 9}, {P23, P78, P49});
    CHECK(Turns.choose({P23, P78, P23, P49}) == Ports({2, 7, 3, 4}));
    Turns.Binder.newCycle();
    CHECK(Turns.choose({P23, P78, P23, P49}) == Ports({2, 8, 3, 9}));
  }
  // A µop that has left no longer counts from the next cycle on.
  Rig Leaving(PortBinding::EightPorts, {0, 0, 0, 0, 0, 0, 1});
  CHECK(Leaving.choose({P06}) == Ports({0}));
  Leaving.Binder.starts(6);
  Leaving.Binder.starts(0);
  CHECK(Leaving.choose({P06}) == Ports({0}));
  Leaving.Binder.starts(0);
  Leaving.Binder.newCycle();
  CHECK(Leaving.choose({P06}) == Ports({6}));

  // The least-loaded rule counts µops of this cycle, too; ties go to the lower number.
  Rig Least(PortBinding::LeastLoaded, {1, 0, 0, 0, 0, 2});
  CHECK(Least.choose({P015, P015, P015, P015}) == Ports({1, 0, 1, 0}));
  CHECK(Least.choose({P015, P015}) == Ports({1, 5}));
}

} // namespace

void incc::test::testPortBinding() {
  testSixPorts();
  testEightPorts();
  testTenPorts();
  testWhatAllShare();
}
