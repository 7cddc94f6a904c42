// Reads a report's data as JSON from standard input and writes its page, so that tests of the page need no
// run.

#include <iostream>
#include <nlohmann/json.hpp>

#include "report/page.h"

int main() {
  std::cout << synthesizer::page(nlohmann::json::parse(std::cin));
}
