/* Names of the file and the line end up in the object. */
const char *const where = __FILE__;
const char text[] = "a \"quoted\" text; with # signs // and /* more */ \\ \t \x01 ä\n";

int count(const char *s, char c) {
  int n = 0;
  for (; *s; s++)
    n += *s == c;
  return n + __LINE__;
}
