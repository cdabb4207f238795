struct vector {
  float x, y, z;
};

#ifdef ARRAYS
struct bodies {
  float *x, *y, *z, *mass;
};
#else
struct bodies {
  float x, y, z, mass;
};
#endif

/* Add to `sum` how `n` bodies pull at the place `at`. */
void attract(const struct bodies *body, long n, const struct vector *at, struct vector *sum);
