#include "src/onnx/context.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/bytes.h"

namespace memcrest::onnx {
namespace {

constexpr size_t kShownName = 120;

// In the order of Note; the first example and the count follow.
constexpr std::array<absl::string_view, static_cast<size_t>(Note::kCount)> kNoteTexts = {
    "nodes were not in topological order: sorted",
    "data type unknown to this version: taken as undefined",
    "stored length contradicts the dimensions: the dimensions count",
    "sparse initializer: counted as dense",
    "initializer without a name: left out",
    "negative declared dimension: taken as unknown",
    "elements of small tensors were left out: the file holds too many",
    "function imports another operator set version than the model: its nodes are read as the model's",
    "training_info is not read",
};

}  // namespace

std::string Quoted(absl::string_view text) {
  const bool cut = text.size() > kShownName;
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kShownName)), cut ? "...\"" : "\"");
}

Context::Context(absl::string_view file, absl::string_view where, const ReadOptions& options)
    : file_(file),
      where_(where),
      options_(options),
      left_(options.max_structure_bytes),
      literals_left_(options.max_literal_bytes),
      strings_(std::make_shared<std::deque<std::string>>()) {}

bool Context::Fail(absl::string_view code, absl::string_view what, absl::string_view where, absl::string_view why,
                   absl::string_view fix) {
  Report(code, what, where, why, fix);
  return false;
}

void Context::Report(absl::string_view code, absl::string_view what, absl::string_view where, absl::string_view why,
                     absl::string_view fix) {
  if (problems_.size() >= kMaxProblems) {
    ++dropped_;
    return;
  }
  problems_.push_back({std::string(code), std::string(what), absl::StrCat(where_, where.empty() ? "" : ", ", where),
                       std::string(why), std::string(fix)});
}

std::string Context::At(const char* at) const { return absl::StrCat("byte ", at - file_.data()); }

bool Context::FailAt(const char* at, absl::string_view code, absl::string_view what, absl::string_view why,
                     absl::string_view fix) {
  return Fail(code, what, At(at), why, fix);
}

bool Context::FailWire(const Cursor& cursor, absl::string_view message) {
  return Fail("E0204", "the file is damaged: it is not valid protobuf",
              absl::StrCat(At(cursor.field()), " (in a ", message, ")"), Describe(cursor.fault()),
              "export or download the file again");
}

std::vector<Problem> Context::TakeProblems() {
  if (dropped_ > 0 && !problems_.empty()) {
    absl::StrAppend(&problems_.back().why, " (and ", dropped_, " more problems in this file)");
  }
  return std::move(problems_);
}

bool Context::FailTooLarge() {
  if (std::exchange(too_large_, true)) return false;
  const std::string limit = HumanBytes(options_.max_structure_bytes);
  if (inlining_) {
    return Fail("E0215", "the model's functions expand to too many nodes", "",
                absl::StrCat("each call is replaced by the function's body, and that takes more than ", limit),
                "export without functions, or with fewer nested calls");
  }
  return Fail("E0215", "the model's structure is too large", "",
              absl::StrCat("nodes, names and shapes (without weights) take more than ", limit),
              "check that the file is the model that you meant; export one step, not an unrolled run");
}

bool Context::ChargeLiteral(int64_t bytes) {
  if (literals_left_ < bytes) return false;
  literals_left_ -= bytes;
  return true;
}

void Context::AddNote(Note note, absl::string_view example) {
  Counted& counted = notes_[static_cast<size_t>(note)];
  if (counted.count++ == 0 && !example.empty()) counted.example = Quoted(example);
}

std::vector<std::string> Context::Notes() const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < notes_.size(); ++i) {
    const Counted& counted = notes_[i];
    if (counted.count == 0) continue;
    const std::string more = counted.count > 1 ? absl::StrCat(" and ", counted.count - 1, " more") : "";
    texts.push_back(counted.example.empty() ? std::string(kNoteTexts[i])
                                            : absl::StrCat(kNoteTexts[i], " (", counted.example, more, ")"));
  }
  return texts;
}

absl::string_view Context::Keep(std::string text) {
  strings_->push_back(std::move(text));
  return strings_->back();
}

}  // namespace memcrest::onnx
