#include "src/onnx/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/problem.h"
#include "src/onnx/context.h"
#include "src/onnx/decode.h"
#include "src/onnx/file_kind.h"
#include "src/onnx/inline_functions.h"

namespace memcrest::onnx {
namespace {

// Files up to this size are read ahead as a whole; larger ones hold weights that read-ahead would drag in for nothing.
constexpr size_t kReadAheadBytes = size_t{64} << 20;

absl::Status CannotRead(const std::string& path, absl::string_view what, absl::string_view why, absl::string_view fix) {
  return ToStatus(Problem{"E0201", std::string(what), path, std::string(why), std::string(fix)});
}

// Closes on scope exit.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Mapping {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
};

absl::StatusOr<Mapping> MapBytes(const std::string& path, int fd, size_t size) {
  if (size == 0) return Mapping{};
  void* const address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) {
    return CannotRead(path, "the file cannot be mapped into memory", std::strerror(errno), "copy it to a local disk");
  }
  madvise(address, size,
          size <= kReadAheadBytes ? MADV_WILLNEED : MADV_RANDOM);  // advice only: a failure costs time at most
  std::shared_ptr<const void> owner(address, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return Mapping{absl::string_view(static_cast<const char*>(address), size), std::move(owner)};
}

absl::StatusOr<Mapping> MapFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // do not wait for a pipe's writer
  if (file.get() < 0)
    return CannotRead(path, "the model file cannot be opened", std::strerror(errno), "check the path");
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return CannotRead(path, "the model file cannot be read", std::strerror(errno), "");
  if (S_ISDIR(info.st_mode)) return CannotRead(path, "the model path is a directory", "", "name the .onnx file in it");
  if (!S_ISREG(info.st_mode)) {
    return CannotRead(path, "the model is not a regular file", "it is mapped, which pipes and devices do not allow",
                      "save it to a file first");
  }
  return MapBytes(path, file.get(), static_cast<size_t>(info.st_size));
}

bool MayBeOtherFile(const Problem& problem) {
  return problem.code == "E0202" || problem.code == "E0204" || problem.code == "E0205";
}

absl::Status Refusal(Context& context) {
  std::vector<Problem> problems = context.TakeProblems();
  const FileKind kind = GuessFileKind(context.file());
  if (!problems.empty() && MayBeOtherFile(problems.front()) && !kind.what.empty()) {
    return ToStatus(Problem{"E0203", "the file is not an ONNX model", context.where(),
                            absl::StrCat("it looks like ", kind.what), std::string(kind.fix)});
  }
  return ToStatus(problems);
}

absl::StatusOr<Model> Read(absl::string_view bytes, absl::string_view where, const ReadOptions& options,
                           std::shared_ptr<const void> owner) {
  Context context(bytes, where, options);
  if (bytes.empty()) {
    context.Fail("E0202", "the file is empty", "", "an ONNX model has at least a graph", "export or download it again");
    return Refusal(context);
  }
  Model model;
  FunctionTable functions;
  if (!DecodeModel(context, &model, &functions) || !InlineFunctions(context, &functions, &model))
    return Refusal(context);
  for (std::string& note : context.Notes()) model.notes.push_back(std::move(note));
  model.backing = {std::move(owner), context.strings()};
  return model;
}

}  // namespace

absl::StatusOr<Model> ReadFile(const std::string& path, const ReadOptions& options) {
  MEMCREST_ASSIGN_OR_RETURN(Mapping mapping, MapFile(path));
  return Read(mapping.bytes, path, options, mapping.owner);
}

absl::StatusOr<Model> ReadBytes(absl::string_view bytes, absl::string_view where, const ReadOptions& options) {
  const auto copy = std::make_shared<const std::string>(bytes);
  return Read(*copy, where, options, copy);
}

}  // namespace memcrest::onnx
