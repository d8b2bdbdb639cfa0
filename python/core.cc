// The commands of the program for Python: words in, exit code and texts out.
//
// Everything else of the package is Python over these texts (JSON, CSV), so that a command has one behaviour. The interpreter's
// lock is free while a command runs.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "src/cli/program.h"

namespace {

std::tuple<int, std::string, std::string> Run(const std::vector<std::string>& words) {
  std::string out, err;
  memcrest::Console console;
  console.out = [&out](absl::string_view text) { out.append(text.data(), text.size()); };
  console.err = [&err](absl::string_view text) { err.append(text.data(), text.size()); };
  const int code = memcrest::RunProgram(words, console);
  return {code, std::move(out), std::move(err)};
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The commands of memcrest.";
  module.def("run", &Run, pybind11::arg("words"), pybind11::call_guard<pybind11::gil_scoped_release>(),
             "Runs `memcrest WORDS...` in this process; gives (exit code, standard output, standard error).");
}
