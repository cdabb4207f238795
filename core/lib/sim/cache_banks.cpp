//===- cache_banks.cpp - Banks of the first-level cache -------------------===//

#include "cache_banks.h"

#include <algorithm>

using namespace incc;
using namespace incc::sim;

namespace {

/// Returns a place of an object within a cache line, a multiple of eight bytes that differs from
/// one iteration to the next. The places are the fractional parts of multiples of irrational
/// numbers, one for each object, so that all relative places of any two objects are equally
/// frequent.
uint64_t anyPlace(const Kernel &K, int32_t Object, size_t Iteration) {
  constexpr uint64_t GoldenRatio = 0x9E3779B97F4A7C15; // Its fractional part times 2^64.
  uint64_t Fraction = GoldenRatio * static_cast<uint64_t>(Object) * Iteration;
  return (Fraction >> 32) * static_cast<uint64_t>(K.LineBytes / 8) >> 32 << 3;
}

/// Shortens a row of a power of two iterations to its period. The sooner the banks repeat, the
/// sooner the machine's state can repeat.
void shortenToPeriod(std::vector<LoadBanks> &Row) {
  while (Row.size() > 1) {
    auto Middle = Row.begin() + static_cast<std::ptrdiff_t>(Row.size() / 2);
    if (!std::equal(Row.begin(), Middle, Middle))
      return;
    Row.resize(Row.size() / 2);
  }
}

} // namespace

BankPlan::BankPlan(const Kernel &K, const Pipeline &P, const AccessAddresses &Loads) {
  if (P.BankBytes <= 0 || K.LineBytes <= 0 || K.LineBytes > 64 * P.BankBytes)
    return;
  AnyPlaces = K.LinePlaces == AnyPlace;
  auto BankBytes = static_cast<uint64_t>(P.BankBytes);
  uint64_t NumBanks = static_cast<uint64_t>(K.LineBytes) / BankBytes;
  RowOf.assign(static_cast<size_t>(K.numValues()), -1);
  size_t PerIteration = Loads.Accesses.size() / static_cast<size_t>(Loads.Iterations);
  for (size_t N = 0; N < Loads.Accesses.size(); ++N) {
    const AccessAddress &A = Loads.Accesses[N];
    if (K.MemorySymbol[K.MemoryOfValue[A.Value]] >= 0)
      continue;
    int32_t &Row = RowOf[static_cast<size_t>(A.Value)];
    if (Row < 0) {
      Row = static_cast<int32_t>(Rows.size());
      Rows.emplace_back(static_cast<size_t>(Loads.Iterations));
    }
    size_t Iteration = N / PerIteration;
    uint64_t Place = AnyPlaces ? anyPlace(K, Loads.ObjectOf.at(A.Part), Iteration) : 0;
    LoadBanks &Load = Rows[static_cast<size_t>(Row)][Iteration];
    Load.Part = A.Part;
    if (P.BankSets > 0)
      Load.Set = (A.Constant + Place) / static_cast<uint64_t>(K.LineBytes) %
                 static_cast<uint64_t>(P.BankSets);
    uint64_t First = (A.Constant + Place) / BankBytes, Last = (A.lastByte() + Place) / BankBytes;
    for (uint64_t Bank = First; Bank <= Last && Bank - First < NumBanks; ++Bank)
      Load.Banks |= uint64_t(1) << Bank % NumBanks;
  }
  for (std::vector<LoadBanks> &Row : Rows) {
    shortenToPeriod(Row);
    Period = std::max(Period, static_cast<int64_t>(Row.size()));
  }
}
