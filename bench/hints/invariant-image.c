// rule: invariant-access
// data: byte byte byte
// n: 16384
struct image {
  int width, height;
  unsigned char *pixels;
};
__attribute__((noinline)) static void invert(struct image *image) {
#ifdef CHANGED
  unsigned char *pixels = image->pixels;
  int size = image->width * image->height;
  for (int i = 0; i < size; ++i)
    pixels[i] = 255 - pixels[i];
#else
  for (int i = 0; i < image->width * image->height; ++i)
    image->pixels[i] = 255 - image->pixels[i];
#endif
}
void kernel(unsigned char *a, const double *b, double *c, long n) {
  struct image image = {128, n / 128, a};
  __asm__ volatile("" : : "r"(&image) : "memory");
  invert(&image);
}
