#include "src/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "src/base/problem.h"

namespace memcrest {

absl::Status WriteOutput(const std::string& path, const std::string& text, bool force, Console& console) {
  if (path.empty() || path == "-") return console.out(text), absl::OkStatus();
  // "x" refuses an existing file in the same step that makes a new one.
  std::FILE* file = std::fopen(path.c_str(), force ? "wb" : "wbx");
  const int error = errno;
  if (file == nullptr && error == EEXIST) {
    return ToStatus(
        Problem{"E0701", "the output file exists", path, "", "choose another name, or --force to overwrite it"});
  }
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return absl::OkStatus();
  return ToStatus(
      Problem{"E0702", "the output file cannot be written", path, std::strerror(file == nullptr ? error : errno), ""});
}

}  // namespace memcrest
