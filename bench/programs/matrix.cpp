// Multiplies, decomposes and solves with Eigen: `matrix SIZE REPEAT`.
#include <Eigen/Dense>
#include <cstdio>
#include <cstdlib>

int main(int count, char **values) {
  if (count != 3)
    return 2;
  const int size = std::atoi(values[1]);
  Eigen::MatrixXd a(size, size), b(size, size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      a(i, j) = (i * 31 + j * 17) % 23 - 11 + (i == j) * size;
      b(i, j) = 1.0 / (1 + i + j);
    }
  double sum = 0;
  for (int again = std::atoi(values[2]); again > 0; --again) {
    Eigen::MatrixXd product = a * b;
    Eigen::VectorXd solved = a.partialPivLu().solve(product.col(again % size));
    Eigen::MatrixXd symmetric = product.transpose() * product;
    symmetric.diagonal().array() += size;
    sum += solved.squaredNorm() + symmetric.llt().solve(solved).sum() + (a.array() * b.array() + 1).sqrt().mean();
    if (again % 8 == 0)
      sum += Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric).eigenvalues().minCoeff();
    a(again % size, again % size) += 1e-3;
  }
  std::printf("%.10g\n", sum);
}
