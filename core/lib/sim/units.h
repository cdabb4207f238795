//===- units.h - Execution ports and what else a µop needs to start -------===//
//
// A µop starts on its port when all of these are free in the cycle:
//
//   its port         which a µop takes for one cycle, or for longer if it is not
//                    pipelined or is a load that crosses a cache line;
//   its resource     such as a divider, which it holds as well as the port, while
//                    the port continues with other µops;
//   a pipe           where more ports than pipes lead to a unit (SharedPipes);
//   its cache banks  for a load (cache_banks.h);
//   the cache        for a load on cores that write stores in other cycles
//                    (`stores_stop_loads`);
//   its shares       for a µop on wide vectors (wide_vectors.h).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_UNITS_H
#define INCC_LIB_SIM_UNITS_H

#include "cache_banks.h"
#include "fingerprint.h"
#include "program.h"
#include "wide_vectors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// Zen 4: µops for a set of pipes wait at more ports than there are pipes (`queued_at`), and as
/// many start in a cycle as there are pipes. Measured there: vector loads wait at any of three
/// address generators and two start in a cycle; the data of vector stores wait at either of two
/// pipes and one starts.
class SharedPipes {
public:
  explicit SharedPipes(const Pipeline &P) {
    for (uint64_t Set : P.PickedFrom)
      TakenUntil.emplace_back(std::popcount(Set), 0);
  }

  /// `Set`: an index into Pipeline::PickedFrom, or -1 if the µop needs no shared pipe.
  bool isFree(int32_t Set, int64_t Cycle) const {
    return Set < 0 || std::ranges::min(TakenUntil[static_cast<size_t>(Set)]) <= Cycle;
  }
  void take(int32_t Set, int64_t Until) {
    if (Set >= 0)
      *std::ranges::min_element(TakenUntil[static_cast<size_t>(Set)]) = Until;
  }
  /// Starts a load that crosses a line and needs all pipes of its set in one cycle. It holds its
  /// own pipe until all are free. If it is wide (`PortCycles` above 1), it also holds each other
  /// pipe for `Others` cycles, one for each of its two accesses that uses that pipe. Returns the
  /// end of the cycle in which all pipes are free.
  int64_t takeAll(int32_t Set, int64_t Cycle, int32_t PortCycles, int32_t Others) {
    std::vector<int64_t> &Of = TakenUntil[static_cast<size_t>(Set)];
    int64_t Start = std::max(std::ranges::max(Of), Cycle);
    auto Own = std::ranges::min_element(Of);
    for (auto Pipe = Of.begin(); Pipe != Of.end(); ++Pipe)
      if (PortCycles == 1)
        *Pipe = Start + 1;
      else
        *Pipe = Pipe == Own ? Cycle + PortCycles : std::max(*Pipe, Cycle) + Others;
    return Start + 1;
  }
  void addTo(Fingerprint &F) const {
    for (const std::vector<int64_t> &Pipes : TakenUntil)
      for (int64_t Until : Pipes)
        F.deadline(Until);
  }

private:
  std::vector<std::vector<int64_t>> TakenUntil; ///< By set, then by pipe.
};

/// Ports, resources and the other limits to what starts in a cycle.
class ExecutionUnits {
public:
  explicit ExecutionUnits(const Program &P)
      : NumColumns(static_cast<size_t>(P.K.NumColumns)), Pipes(P.P), Banks(P.P, P.Banks),
        WideVectors(P.P), CrossingCycles(P.K.LineCrossingCycles),
        CrossingTakesPipes(P.P.CrossingTakesPipes != 0), StoresStopLoads(P.P.StoresStopLoads != 0),
        AliasedStartAgain(P.P.AliasingStartsAgain != 0), IsWorst(P.K.LinePlaces == WorstPlace) {}

  bool isPortFree(int32_t Port, int64_t Cycle) const {
    return PortFreeAt[static_cast<size_t>(Port)] <= Cycle;
  }
  /// Returns true if the resource that a µop holds, if any, is free.
  bool isResourceFree(const Uop &U, int64_t Cycle) const {
    return U.Resource < 0 || ResourceFreeAt[static_cast<size_t>(U.Resource)] <= Cycle;
  }
  bool isPipeFree(const Uop &U, int64_t Cycle) const { return Pipes.isFree(U.PipeSet, Cycle); }
  /// Returns true unless the µop is a load and the cache takes a store instead.
  bool isCacheFree(const Uop &U) const { return !LoadsWait || U.Kind != UopKind::Load; }
  bool areBanksFree(LoadBanks Load, bool CrossesLine, int64_t Cycle) const {
    return Banks.areFree(Load, CrossesLine, Cycle);
  }
  /// Returns true if a µop's shares of the cycle are left, if it is on wide vectors.
  bool areSharesFree(const Uop &U, bool CrossesLine, int64_t Cycle) const {
    return WideVectors.isFree(sharesOf(U, CrossesLine), Cycle);
  }

  /// Begins a cycle. `StoresWrite`: the cache takes a store in it.
  void newCycle(bool StoresWrite) { LoadsWait = StoresWrite && StoresStopLoads; }
  void takeBanks(LoadBanks Load, bool CrossesLine, int64_t Cycle) {
    Banks.take(Load, CrossesLine, Cycle);
  }
  /// Starts a µop on a port. `IsAliased`: see address_aliasing.h. `IsLimited`: pipes and shares are
  /// limited.
  void take(const Uop &U, int32_t Port, int64_t Cycle, bool CrossesLine, bool IsAliased,
            bool IsLimited) {
    bool TakesPipes = CrossesLine && CrossingTakesPipes && U.PipeSet >= 0;
    // Other loads that cross a cache line take their port a second time.
    int32_t PortCycles = U.PortCycles + (CrossesLine && !TakesPipes ? CrossingCycles : 0);
    if (IsAliased && AliasedStartAgain)
      PortCycles += U.PortCycles;
    PortFreeAt[static_cast<size_t>(Port)] = Cycle + PortCycles;
    if (U.Resource >= 0)
      ResourceFreeAt[static_cast<size_t>(U.Resource)] = Cycle + U.ResourceCycles;
    if (!IsLimited)
      return;
    if (TakesPipes) {
      int64_t Until = Pipes.takeAll(U.PipeSet, Cycle, PortCycles, PortCycles - !IsWorst);
      for (uint64_t Left = PortCycles == 1 ? U.Ports : 0; Left != 0; Left &= Left - 1) {
        int64_t &FreeAt = PortFreeAt[static_cast<size_t>(std::countr_zero(Left))];
        FreeAt = std::max(FreeAt, Until);
      }
    } else {
      Pipes.take(U.PipeSet, Cycle + PortCycles);
    }
    WideVectors.take(sharesOf(U, CrossesLine), Cycle);
  }

  void addTo(Fingerprint &F) const {
    WideVectors.addTo(F);
    for (size_t N = 0; N < NumColumns; ++N)
      if (std::max(PortFreeAt[N], ResourceFreeAt[N]) > F.cycle()) {
        F.deadline(PortFreeAt[N], static_cast<int32_t>(N));
        F.deadline(ResourceFreeAt[N]);
      }
    Pipes.addTo(F);
  }

private:
  static int32_t sharesOf(const Uop &U, bool CrossesLine) {
    return CrossesLine ? 2 * U.WideShares : U.WideShares;
  }

  size_t NumColumns;
  SharedPipes Pipes;
  CacheBanks Banks;
  WideVectorRule WideVectors;
  int32_t CrossingCycles;
  bool CrossingTakesPipes, StoresStopLoads, AliasedStartAgain;
  bool LoadsWait = false; ///< No load starts in this cycle.
  bool IsWorst;           ///< Arrays are at the worst places.
  std::array<int64_t, 64> PortFreeAt{}, ResourceFreeAt{};
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_UNITS_H
