#include "src/job/document.h"

#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"

namespace memcrest {
namespace {

constexpr size_t kMaxFileBytes = size_t{16} << 20;
constexpr size_t kShownColumns = 100;

}  // namespace

absl::StatusOr<Source> ReadSource(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  Source source{path, ""};
  char block[16384];
  for (size_t n = 1; file && n > 0 && source.text.size() <= kMaxFileBytes;) {
    n = std::fread(block, 1, sizeof(block), file.get());
    source.text.append(block, n);
  }
  if (!file || std::ferror(file.get())) {
    return ToStatus(Problem{"E0108", "the file cannot be read", path, "", "check the path and its permissions"});
  }
  if (source.text.size() > kMaxFileBytes) {
    return ToStatus(Problem{"E0108", "the file is larger than 16 MiB", path, "a job file is a few lines of text", ""});
  }
  return source;
}

std::string WhereIn(const Source& source, size_t offset) {
  const std::string& text = source.text;
  if (offset > text.size()) offset = text.size();
  size_t begin = offset;
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  size_t line = 1;
  for (size_t i = 0; i < begin; ++i) line += text[i] == '\n' ? size_t{1} : size_t{0};
  const size_t column = offset - begin;
  if (column > kShownColumns) return absl::StrCat(source.name, ":", line, ":", column + 1);
  std::string shown, caret;
  for (size_t i = begin; i < text.size() && text[i] != '\n' && i < begin + kShownColumns; ++i) {
    shown += text[i] == '\t' || text[i] == '\r' ? ' ' : text[i];
  }
  caret.assign(column, ' ');
  return absl::StrCat(source.name, ":", line, ":", column + 1, "\n    ", shown, "\n    ", caret, "^");
}

Doc StringDoc(absl::string_view text) {
  Doc doc;
  doc.kind = Doc::Kind::kString;
  doc.text = std::string(text);
  return doc;
}

}  // namespace memcrest
