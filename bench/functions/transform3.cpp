#include <array>
#include <cstddef>

struct Vector3 {
  float x, y, z;
};
using Matrix3 = std::array<Vector3, 3>;

static float dot(const Vector3 &a, const Vector3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Rotate and scale points.
extern "C" void transform3(const Matrix3 &matrix, const Vector3 *in, Vector3 *out, size_t points) {
  for (const Vector3 *point = in; point != in + points; ++point, ++out)
    *out = {dot(matrix[0], *point), dot(matrix[1], *point), dot(matrix[2], *point)};
}
