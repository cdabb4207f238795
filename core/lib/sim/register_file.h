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

/// The physical registers in use, of all kinds together.
class RegisterFile {
public:
  /// `Capacity`: 0 for no limit.
  explicit RegisterFile(int32_t Capacity) : Capacity(Capacity), IsCounting(Capacity > 0) {}

  /// Returns true if so many registers are free. If none is in use, an instruction gets as many as
  /// it needs, so that it cannot wait forever.
  bool hasRoom(int32_t Needed) const {
    return Capacity == 0 || Used.all() == 0 || Used.all() + Needed <= Capacity;
  }
  /// Counts registers also if their number is not limited.
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
  int32_t Capacity;
  bool IsCounting;
  Registers Used;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_REGISTER_FILE_H
