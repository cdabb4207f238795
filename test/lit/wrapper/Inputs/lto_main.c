double dot(const double *, const double *, int);
void read_all(double *, double *);

static double x[1000], y[1000];

int main(int count, char **values) {
  (void)values;
  read_all(x, y);
  return (int)dot(x, y, count);
}
