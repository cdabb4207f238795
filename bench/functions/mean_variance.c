#include <stddef.h>

// Return the variance of values, and their mean in *mean.
double mean_variance(const double *values, size_t count, double *mean) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i];
  *mean = sum / count;
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    double difference = values[i] - *mean;
    squares += difference * difference;
  }
  return squares / (count - 1);
}
