//===- rational.h - Exact fractions for cycle counts ----------------------===//
//
// Bounds are kept as fractions of 64-bit integers, so that equal bounds compare
// equal.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_RATIONAL_H
#define INCC_RATIONAL_H

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace incc {

/// A fraction in lowest terms with a positive denominator. Sums are computed in 128 bits; a result
/// that does not fit into 64 bits raises std::overflow_error.
class Rational {
public:
  constexpr Rational() = default;
  constexpr Rational(int64_t Numerator, int64_t Denominator = 1)
      : Rational(reduce(Numerator, Denominator)) {}

  constexpr int64_t numerator() const { return Num; }
  constexpr int64_t denominator() const { return Den; }
  constexpr double toDouble() const { return static_cast<double>(Num) / static_cast<double>(Den); }

  friend constexpr Rational operator+(Rational A, Rational B) {
    return reduce(Wide(A.Num) * B.Den + Wide(B.Num) * A.Den, Wide(A.Den) * B.Den);
  }
  friend constexpr Rational operator/(Rational A, int64_t Divisor) {
    return reduce(A.Num, Wide(A.Den) * Divisor);
  }
  friend constexpr bool operator==(Rational A, Rational B) = default;
  friend constexpr std::strong_ordering operator<=>(Rational A, Rational B) {
    return Wide(A.Num) * B.Den <=> Wide(B.Num) * A.Den;
  }

private:
  __extension__ using Wide = __int128;

  static constexpr Rational reduce(Wide Numerator, Wide Denominator) {
    if (Denominator == 0)
      throw std::domain_error("fraction with denominator 0");
    if (Denominator < 0) {
      Numerator = -Numerator;
      Denominator = -Denominator;
    }
    Wide A = Numerator < 0 ? -Numerator : Numerator;
    Wide B = Denominator;
    while (B != 0) {
      Wide Remainder = A % B;
      A = B;
      B = Remainder;
    }
    Numerator /= A;
    Denominator /= A;
    if (Numerator > INT64_MAX || Numerator < -INT64_MAX || Denominator > INT64_MAX)
      throw std::overflow_error("a bound does not fit into a fraction of 64-bit integers");
    Rational Result;
    Result.Num = static_cast<int64_t>(Numerator);
    Result.Den = static_cast<int64_t>(Denominator);
    return Result;
  }

  int64_t Num = 0;
  int64_t Den = 1;
};

} // namespace incc

#endif // INCC_RATIONAL_H
