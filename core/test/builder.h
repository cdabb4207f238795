//===- builder.h - Small kernels for tests --------------------------------===//

#ifndef INCC_TEST_BUILDER_H
#define INCC_TEST_BUILDER_H

#include "incc/kernel.h"
#include "incc/sim.h"

#include <cstdint>
#include <vector>

namespace incc::test {

/// Appends instructions to a kernel of eight ports; locations are numbers below 16.
class Builder {
public:
  struct Input {
    int32_t Location, Latency;
  };

  Builder() {
    K.NumPorts = 8;
    K.NumColumns = 9;
    K.NumLocations = 16;
    K.IssueWidth = K.RetireWidth = 4;
#define KERNEL_START(Member, Name, Owners, Entries) K.Member.push_back(0);
#include "incc/fields.def"
    K.ForwardClass = {0};
    K.ForwardCycles = {4};
  }

  Builder &uop(uint64_t Ports, int32_t Cycles = 1, UopKind Kind = UopKind::Compute) {
    K.UopPorts.push_back(Ports);
    K.UopCycles.push_back(Cycles);
    K.UopKinds.push_back(Kind);
    return *this;
  }

  Builder &result(int32_t Target, const std::vector<Input> &Inputs) {
    value(ValueKind::Register, Inputs);
    K.OutputLocation.push_back(Target);
    ++K.OutputStart.back();
    K.MemoryOfValue.push_back(-1);
    return *this;
  }

  /// Target = [Base + Displacement], eight bytes.
  Builder &load(int32_t Target, int32_t Base, int64_t Displacement, int32_t Latency = 5) {
    uop(0b1100, 1, UopKind::Load);
    value(ValueKind::Load, {{Base, Latency}});
    memory(Base, Displacement);
    result(Target, {});
    K.InputKinds.push_back(InputKind::Value);
    K.InputId.push_back(K.numValues() - 2);
    K.InputLatency.push_back(0);
    K.InputRule.push_back(-1);
    K.InputEarly.push_back(0);
    ++K.InputStart.back();
    return end(IsLoad);
  }

  /// [Base + Displacement] = Source, eight bytes.
  Builder &store(int32_t Source, int32_t Base, int64_t Displacement) {
    uop(0b1100, 1, UopKind::StoreAddress).uop(0b10000, 1, UopKind::StoreData);
    value(ValueKind::Store, {{Source, 0}, {Base, 0}});
    memory(Base, Displacement);
    return end(IsStore);
  }

  /// Target += Constant.
  Builder &add(int32_t Target, int64_t Constant) {
    uop(1).result(Target, {{Target, 1}});
    K.AffineTarget.push_back(Target);
    K.AffineConstant.push_back(Constant);
    K.AffineTermLocation.push_back(Target);
    K.AffineTermCoefficient.push_back(1);
    K.AffineTermStart.push_back(static_cast<int32_t>(K.AffineTermLocation.size()));
    return end();
  }

  Builder &end(int32_t Flags = 0, int32_t Slots = 1) {
    K.InstructionFlags.push_back(Flags);
    K.IssueSlots.push_back(Slots);
    K.RetireSlots.push_back(Slots);
    K.LoadLatency.push_back(0);
    K.ForwardGroup.push_back(-1);
    K.ForwardDelay.push_back(0);
    K.EarlyFor.push_back(0);
    K.DelaysFrom.push_back(0);
    K.DelaysTo.push_back(0);
    K.UopStart.push_back(K.numUops());
    K.ValueStart.push_back(K.numValues());
    K.AffineStart.push_back(static_cast<int32_t>(K.AffineTarget.size()));
    return *this;
  }

  Kernel K;

private:
  void value(ValueKind Kind, const std::vector<Input> &Inputs) {
    K.ValueKinds.push_back(Kind);
    for (const Input &In : Inputs) {
      K.InputKinds.push_back(InputKind::Location);
      K.InputId.push_back(In.Location);
      K.InputLatency.push_back(In.Latency);
      K.InputRule.push_back(-1);
      K.InputEarly.push_back(0);
    }
    K.InputStart.push_back(static_cast<int32_t>(K.InputId.size()));
    K.OutputStart.push_back(static_cast<int32_t>(K.OutputLocation.size()));
  }

  void memory(int32_t Base, int64_t Displacement) {
    K.MemoryOfValue.push_back(static_cast<int32_t>(K.MemoryBase.size()));
    K.MemoryBase.push_back(Base);
    K.MemoryIndex.push_back(-1);
    K.MemoryScale.push_back(1);
    K.MemoryDisplacement.push_back(Displacement);
    K.MemorySize.push_back(8);
    K.MemorySymbol.push_back(-1);
    K.MemoryClass.push_back(0);
    K.MemoryElements.push_back(1);
    K.MemoryPartial.push_back(0);
  }
};

/// Returns a pipeline with one entry per slot, no special rules, no described front end, and stores
/// as on most cores.
inline Pipeline plain(const Kernel &K) {
  Pipeline P = idealPipeline(K);
  P.StoreAddressToLoad = Pipeline().StoreAddressToLoad;
  return P;
}

} // namespace incc::test

#endif // INCC_TEST_BUILDER_H
