static inline double scaled(double x, double y) { return x * y + x; }
