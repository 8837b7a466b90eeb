#include "cli/app.h"

int main(int argc, char** argv) {
  return npukit::cli::Main(std::span(argv + 1, argc > 0 ? static_cast<std::size_t>(argc - 1) : 0));
}
