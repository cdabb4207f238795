// Parses a file of XML with pugixml, queries it and prints it: `tree FILE REPEAT`.
#include "pugixml.hpp"
#include <cstdio>
#include <cstdlib>
#include <sstream>

int main(int count, char **values) {
  if (count != 3)
    return 2;
  double sum = 0;
  std::string printed;
  for (int again = std::atoi(values[2]); again > 0; --again) {
    pugi::xml_document document;
    if (!document.load_file(values[1]))
      return 1;
    for (pugi::xml_node each : document.child("list").children("body"))
      sum += each.attribute("mass").as_double() + each.child("name").text().as_string()[0];
    sum += document.select_nodes("//body[number > 500]/name").size();
    std::ostringstream out;
    document.save(out);
    printed = out.str();
  }
  std::fputs(printed.c_str(), stdout);
  std::printf("%.17g\n", sum);
}
