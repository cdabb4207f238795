#include <memory>
#include <stdexcept>

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square final : Shape {
  double side = 1;
  double area() const override { return side * side; }
};
} // namespace

double areas(const std::unique_ptr<Shape> *shapes, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    if (!shapes[i])
      throw std::invalid_argument("no shape");
    s += shapes[i]->area();
  }
  return s;
}

std::unique_ptr<Shape> unit() { return std::make_unique<Square>(); }
double one() {
  std::unique_ptr<Shape> shape = unit();
  return areas(&shape, 1);
}
