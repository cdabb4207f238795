//===- checks.h - Lengths and ranges of arrays ----------------------------===//

#ifndef INCC_LIB_CHECKS_H
#define INCC_LIB_CHECKS_H

#include "incc/kernel.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace incc {

/// The numbers of owners of arrays' entries, by their names in fields.def.
struct Owners {
  explicit Owners(const Kernel &K)
      : Locations(K.NumLocations), Instructions(size(K.InstructionFlags)), Uops(size(K.UopPorts)),
        Values(size(K.ValueKinds)), Outputs(size(K.OutputLocation)), Inputs(size(K.InputId)),
        Operands(size(K.MemoryBase)), Affines(size(K.AffineTarget)),
        AffineTerms(size(K.AffineTermLocation)), Entries(size(K.EntryLocation)),
        EntryTerms(size(K.EntryTermUnknown)), Forwards(size(K.ForwardClass)),
        PortDelays(size(K.PortDelayCycles)), Assumed(size(K.AssumedLoad)),
        Aligned(size(K.AlignedValue)) {}

  int64_t Locations, Instructions, Uops, Values, Outputs, Inputs, Operands, Affines, AffineTerms,
      Entries, EntryTerms, Forwards, PortDelays, Assumed, Aligned;
  static constexpr int64_t Any = -1;

private:
  template <typename T> static int64_t size(const std::vector<T> &Array) {
    return static_cast<int64_t>(Array.size());
  }
};

/// The number of an enumeration's values.
template <typename Enum> constexpr int64_t NumValuesOf = 0;
template <>
inline constexpr int64_t NumValuesOf<UopKind> = 0
#define UOP_KIND(Name, Python) +1
#include "incc/fields.def"
    ;
template <>
inline constexpr int64_t NumValuesOf<ValueKind> = 0
#define VALUE_KIND(Name, Python) +1
#include "incc/fields.def"
    ;
template <>
inline constexpr int64_t NumValuesOf<InputKind> = 0
#define INPUT_KIND(Name, Python) +1
#include "incc/fields.def"
    ;

/// Checks of fields. They throw std::invalid_argument with the field's name after a prefix.
class Checks {
public:
  explicit Checks(std::string_view Prefix = "") : Prefix(Prefix) {}

  [[noreturn]] void fail(const char *Field, const std::string &Problem) const {
    throw std::invalid_argument(Prefix + Field + ": " + Problem);
  }
  [[noreturn]] void failAt(const char *Array, int64_t Entry, const std::string &Problem) const {
    fail(Array, "entry " + std::to_string(Entry) + " " + Problem);
  }

  void scalar(const char *Field, int64_t Value, int64_t Low, int64_t High) const {
    if (Value < Low || Value > High)
      fail(Field,
           "is " + std::to_string(Value) + ", must be at " +
               (Value < Low ? "least " + std::to_string(Low) : "most " + std::to_string(High)));
  }

  template <typename T>
  void length(const char *Array, const std::vector<T> &Values, int64_t Owners) const {
    if (Owners >= 0 && static_cast<int64_t>(Values.size()) != Owners)
      fail(Array, std::to_string(Values.size()) + " entries where " + std::to_string(Owners) +
                      " are expected");
  }

  template <typename T>
  void range(const char *Array, const std::vector<T> &Values, int64_t Low, int64_t High) const {
    for (size_t I = 0; I < Values.size(); ++I)
      if (int64_t Value = static_cast<int64_t>(Values[I]); Value < Low || Value > High)
        failAt(Array, static_cast<int64_t>(I),
               "is " + std::to_string(Value) + ", outside " + std::to_string(Low) + ".." +
                   std::to_string(High));
  }

  template <typename Enum>
  void enumerators(const char *Array, const std::vector<Enum> &Values) const {
    range(Array, Values, 0, NumValuesOf<Enum> - 1);
  }

  /// Checks that the array of a KERNEL_START ascends from 0 to the number of entries.
  void start(const char *Array, const std::vector<int32_t> &Start, int64_t Owners,
             int64_t Entries) const {
    length(Array, Start, Owners + 1);
    if (Start.front() != 0)
      fail(Array, "must begin with 0");
    for (size_t I = 1; I < Start.size(); ++I)
      if (Start[I] < Start[I - 1])
        fail(Array, "must not fall");
    if (Start.back() != Entries)
      fail(Array, "ends with " + std::to_string(Start.back()) + " but there are " +
                      std::to_string(Entries) + " entries");
  }

private:
  std::string Prefix;
};

} // namespace incc

#endif // INCC_LIB_CHECKS_H
