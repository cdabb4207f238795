/* Parses a file of JSON with cJSON again and again, changes it and prints it: `json FILE REPEAT`. */
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *content(const char *name) {
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, 0, SEEK_END))
    exit(2);
  long size = ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  if (!text || fread(text, 1, size, file) != (size_t)size)
    exit(2);
  text[size] = 0;
  fclose(file);
  return text;
}

int main(int count, char **values) {
  if (count != 3)
    return 2;
  char *text = content(values[1]);
  double sum = 0;
  for (int again = atoi(values[2]); again > 0; --again) {
    cJSON *whole = cJSON_Parse(text), *each;
    if (!whole)
      return 1;
    cJSON_ArrayForEach(each, whole) {
      sum += cJSON_GetNumberValue(cJSON_GetObjectItem(each, "mass"));
      cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(each, "number"), again);
    }
    char *printed = cJSON_Print(whole);
    sum += strlen(printed);
    if (again == 1)
      puts(printed);
    free(printed);
    cJSON_Delete(whole);
  }
  printf("%.17g\n", sum);
  free(text);
}
