//===- register_file.h - Physical registers in use -------------------------===//
//
// An instruction gets a register for each one that it writes when it is issued, and
// counts for it until it retires: then what the register's name meant before is of
// no use to anybody, so that one is free again. What the renamer does without
// execution of its own (an eliminated move, a zero idiom) needs none.
//
// Registers are counted only where their number is limited, or somebody wants to know.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_REGISTER_FILE_H
#define INCC_LIB_SIM_REGISTER_FILE_H

#include <cstdint>

namespace incc::sim {

struct Registers {
  int32_t General = 0, Vector = 0;
  int32_t all() const { return General + Vector; }
};

class RegisterFile {
public:
  explicit RegisterFile(int32_t Capacity) : Capacity(Capacity), Counts(Capacity > 0) {}

  /// An instruction gets its registers from a file without any in use, however many they are.
  bool hasRoom(int32_t Wanted) const {
    return Capacity == 0 || Used.all() == 0 || Used.all() + Wanted <= Capacity;
  }
  void count() { Counts = true; }
  bool counts() const { return Counts; }
  void take(Registers R) {
    Used.General += R.General;
    Used.Vector += R.Vector;
  }
  void giveBack(Registers R) {
    Used.General -= R.General;
    Used.Vector -= R.Vector;
  }
  Registers used() const { return Used; }

private:
  int32_t Capacity;
  bool Counts;
  Registers Used;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_REGISTER_FILE_H
