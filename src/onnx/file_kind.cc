#include "src/onnx/file_kind.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace memcrest::onnx {
namespace {

constexpr absl::string_view kExport = "export the model: torch.onnx.export(model, args, \"model.onnx\", dynamo=True)";
constexpr size_t kTextSample = 256;

struct Magic {
  size_t offset;
  absl::string_view bytes;
  FileKind kind;
};
constexpr Magic kMagics[] = {
    {0, absl::string_view("PK\x03\x04", 4), {"a zip archive (a PyTorch checkpoint or .pt2 program)", kExport}},
    {0, "version https://git-lfs", {"a Git LFS pointer: the file itself was not fetched", "run: git lfs pull"}},
    {0, absl::string_view("\x1f\x8b", 2), {"gzip-compressed", "unpack it first: gunzip FILE"}},
    {0, absl::string_view("\xfd" "7zXZ\0", 6), {"xz-compressed", "unpack it first: unxz FILE"}},
    {0, "\x28\xb5\x2f\xfd", {"zstd-compressed", "unpack it first: unzstd FILE"}},
    {0, "BZh", {"bzip2-compressed", "unpack it first: bunzip2 FILE"}},
    {257, "ustar", {"a tar archive", "unpack it first: tar xf FILE"}},
    {0, "\x80\x02", {"a Python pickle (an old PyTorch checkpoint)", kExport}},
    {0, "\x80\x04", {"a Python pickle", kExport}},
    {0, "\x89HDF", {"an HDF5 file (Keras)", kExport}},
    {0, "\x93NUMPY", {"a NumPy array", kExport}},
    {0, "GGUF", {"a GGUF file (weights only)", kExport}},
    {0, "%PDF", {"a PDF document", kExport}},
    {0, "\x7f" "ELF", {"a program", kExport}},
    {4, "ORTM", {"ONNX Runtime's own format (.ort)", "pass the .onnx file that it was made from"}},
    {4, "TFL3", {"a TensorFlow Lite model", kExport}},
};

bool IsSafetensors(absl::string_view bytes) {
  // Eight bytes of header length, then JSON.
  return bytes.size() > 9 && bytes[8] == '{' && bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0;
}

bool IsText(absl::string_view bytes) {
  const absl::string_view sample = bytes.substr(0, kTextSample);
  return !sample.empty() && std::all_of(sample.begin(), sample.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

FileKind KindOfText(absl::string_view bytes) {
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(bytes.substr(0, kTextSample));
  if (absl::StartsWithIgnoreCase(start, "<!doctype") || absl::StartsWithIgnoreCase(start, "<html")) {
    return {"an HTML page, probably an error page saved by a download", "download the file itself (\"raw\" link)"};
  }
  if (absl::StartsWith(start, "{") || absl::StartsWith(start, "[")) return {"JSON", kExport};
  if (absl::StartsWith(start, "ir_version:") || absl::StartsWith(start, "<")) {
    return {"a model in text form",
            "convert it to the binary form first (onnx.parser, or google.protobuf.text_format)"};
  }
  return {"a text file", kExport};
}

}  // namespace

FileKind GuessFileKind(absl::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.size() > magic.offset && absl::StartsWith(bytes.substr(magic.offset), magic.bytes)) return magic.kind;
  }
  if (IsSafetensors(bytes)) return {"a safetensors file (weights only)", kExport};
  return IsText(bytes) ? KindOfText(bytes) : FileKind{};
}

}  // namespace memcrest::onnx
