#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "src/cli/program.h"

namespace {

void Print(std::FILE* file, absl::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

}  // namespace

int main(int argc, char** argv) {
  memcrest::Console console;
  console.out = [](absl::string_view text) { Print(stdout, text); };
  console.err = [](absl::string_view text) { Print(stderr, text); };
  console.color = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return memcrest::RunProgram(std::vector<std::string>(argv + 1, argv + argc), console);
}
