//===- register_file.h - Physical registers in use ------------------------===//
//
// An instruction gets a physical register for each register that it writes when
// it is issued, and counts for it until it retires: then the register's previous
// content can no longer be needed, so one register becomes free. Instructions that
// the renamer completes without execution (an eliminated move, a zero idiom) need
// no register.
//
// Registers are counted only where their number is limited or statistics are
// wanted.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_REGISTER_FILE_H
#define INCC_LIB_SIM_REGISTER_FILE_H

#include <cstdint>

namespace incc::sim {

/// Numbers of physical registers by kind. Vector registers include mask registers.
struct Registers {
  int32_t General = 0, Vector = 0;

  int32_t all() const { return General + Vector; }
};

/// The physical registers in use.
class RegisterFile {
public:
  /// The limits of all kinds together and of each kind; 0 for no limit.
  RegisterFile(int32_t All, Registers OfKind)
      : All(All), OfKind(OfKind), IsCounting(All > 0 || OfKind.all() > 0) {}

  /// Returns true if these registers are free. If none is in use, an instruction gets as many as
  /// it needs, so that it cannot wait forever.
  bool hasRoom(Registers Needed) const {
    return Used.all() == 0 || (fits(All, Used.all() + Needed.all()) &&
                               fits(OfKind.General, Used.General + Needed.General) &&
                               fits(OfKind.Vector, Used.Vector + Needed.Vector));
  }
  /// Counts registers even if their number is not limited.
  void startCounting() { IsCounting = true; }
  bool isCounting() const { return IsCounting; }
  void allocate(Registers R) {
    Used.General += R.General;
    Used.Vector += R.Vector;
  }
  void release(Registers R) {
    Used.General -= R.General;
    Used.Vector -= R.Vector;
  }
  Registers used() const { return Used; }

private:
  static bool fits(int32_t Capacity, int32_t Number) { return Capacity == 0 || Number <= Capacity; }

  int32_t All;
  Registers OfKind;
  bool IsCounting;
  Registers Used;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_REGISTER_FILE_H
