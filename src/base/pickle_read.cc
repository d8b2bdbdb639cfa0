// The reader of pickles: a stack machine over values that stand in one list; containers hold indices, so a document may share
// values or hold itself without harm. The opcodes are those of Lib/pickletools.py.
#include <bit>
#include <cstring>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/pickle.h"
#include "src/base/problem.h"

namespace memcrest {
namespace {

using Kind = PickleValue::Kind;
constexpr size_t kMostValues = size_t{1} << 27;

class Reader {
 public:
  Reader(absl::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  absl::StatusOr<PickleDoc> Run() {
    while (problem_.empty()) {
      start_ = at_;
      if (at_ >= bytes_.size()) Fail("it ends before its STOP");
      else if (Step(static_cast<unsigned char>(bytes_[at_++]))) break;
    }
    if (problem_.empty() && stack_.size() != 1) Fail("it does not leave one value");
    if (problem_.empty()) return doc_.top = stack_[0], std::move(doc_);
    return ToStatus(Problem{"E0601", absl::StrCat(name_, " is no pickle of plain data"), absl::StrCat("byte ", start_), problem_,
                            "torch.cuda.memory._dump_snapshot(FILE) writes a snapshot that can be read"});
  }

 private:
  void Fail(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
  }

  absl::string_view Take(uint64_t n) {
    if (n > bytes_.size() - at_) return Fail("it is cut off"), absl::string_view();
    const absl::string_view taken = bytes_.substr(at_, n);
    at_ += n;
    return taken;
  }
  uint64_t Number(int size) {  // little-endian
    uint64_t n = 0;
    const absl::string_view raw = Take(static_cast<uint64_t>(size));
    for (size_t i = raw.size(); i-- > 0;) n = n << 8 | static_cast<unsigned char>(raw[i]);
    return n;
  }
  std::string Line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == absl::string_view::npos) return Fail("a line has no end"), std::string();
    const std::string line(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return line;
  }

  PickleId Make(Kind kind, int64_t number = 0) {
    if (doc_.values.size() >= kMostValues) return Fail("it holds too many values"), 0;
    PickleValue& v = doc_.values.emplace_back();
    v.kind = kind;
    v.number = number;
    return static_cast<PickleId>(doc_.values.size() - 1);
  }
  void Push(PickleId id) { stack_.push_back(id); }
  void PushText(absl::string_view text) {
    const PickleId id = Make(Kind::kText);
    if (problem_.empty()) doc_.values[static_cast<size_t>(id)].text = std::string(text);
    Push(id);
  }
  void PushLong(uint64_t size) {
    const absl::string_view raw = Take(size);
    if (raw.size() > 9 || (raw.size() == 9 && raw[8] != 0)) return Fail("a number has more than 64 bits");
    uint64_t n = !raw.empty() && raw.size() < 8 && (raw.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = std::min<size_t>(raw.size(), 8); i-- > 0;) n = n << 8 | static_cast<unsigned char>(raw[i]);
    Push(Make(Kind::kInt, static_cast<int64_t>(n)));
  }
  void PushIntLine() {
    std::string line = Line();
    if (line == "00" || line == "01") return Push(Make(Kind::kBool, line == "01"));
    if (!line.empty() && line.back() == 'L') line.pop_back();
    int64_t n = 0;
    if (!absl::SimpleAtoi(line, &n)) return Fail("a number cannot be read");
    Push(Make(Kind::kInt, n));
  }
  void PushReal(double value) {
    const PickleId id = Make(Kind::kFloat);
    if (problem_.empty()) doc_.values[static_cast<size_t>(id)].real = value;
    Push(id);
  }
  void PushBinaryReal() {
    uint64_t n = 0;
    for (const char c : Take(8)) n = n << 8 | static_cast<unsigned char>(c);
    PushReal(std::bit_cast<double>(n));
  }
  void PushRealLine() {
    double value = 0;
    if (!absl::SimpleAtod(Line(), &value)) return Fail("a number cannot be read");
    PushReal(value);
  }

  // Values above the last mark.
  std::vector<PickleId> AboveMark() {
    if (marks_.empty() || marks_.back() > stack_.size()) return Fail("a mark is missing"), std::vector<PickleId>();
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleId> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }
  std::vector<PickleId> Last(size_t n) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + n) return Fail("a value is missing"), std::vector<PickleId>();
    const auto from = stack_.end() - static_cast<std::ptrdiff_t>(n);
    std::vector<PickleId> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    return items;
  }
  void PushItems(Kind kind, std::vector<PickleId> items) {
    const PickleId id = Make(kind);
    if (problem_.empty()) doc_.values[static_cast<size_t>(id)].items = std::move(items);
    Push(id);
  }
  void Extend(Kind kind, const std::vector<PickleId>& items) {
    if (stack_.empty() || !problem_.empty()) return Fail("a value is missing");
    PickleValue& target = doc_.values[static_cast<size_t>(stack_.back())];
    if (target.kind != kind || (kind == Kind::kDict && items.size() % 2 != 0)) return Fail("items are put into something else");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }
  void Put(uint64_t slot) {
    if (stack_.empty()) return Fail("a value is missing");
    memo_[slot] = stack_.back();
  }
  void Get(uint64_t slot) {
    const auto it = memo_.find(slot);
    if (it == memo_.end()) return Fail("a value is used that was not kept");
    Push(it->second);
  }
  void Duplicate() {
    if (stack_.empty()) return Fail("a value is missing");
    Push(PickleId{stack_.back()});
  }

  // One opcode; true: the document is complete.
  bool Step(unsigned char op) {
    if (op == '.') return true;
    if (!Scalar(op) && !Container(op) && !Machine(op)) {
      Fail(absl::StrFormat("opcode 0x%02x builds an object, which is never done here", op));
    }
    return false;
  }

  bool Scalar(unsigned char op) {
    switch (op) {
      case 'N': return Push(Make(Kind::kNone)), true;
      case 0x88: return Push(Make(Kind::kBool, 1)), true;
      case 0x89: return Push(Make(Kind::kBool, 0)), true;
      case 'K': return Push(Make(Kind::kInt, static_cast<int64_t>(Number(1)))), true;
      case 'M': return Push(Make(Kind::kInt, static_cast<int64_t>(Number(2)))), true;
      case 'J': return Push(Make(Kind::kInt, static_cast<int32_t>(static_cast<uint32_t>(Number(4))))), true;
      case 0x8a: return PushLong(Number(1)), true;
      case 0x8b: return PushLong(Number(4)), true;
      case 'I': case 'L': return PushIntLine(), true;
      case 'F': return PushRealLine(), true;
      case 'G': return PushBinaryReal(), true;
      case 0x8c: case 'U': case 'C': return PushText(Take(Number(1))), true;
      case 'X': case 'T': case 'B': return PushText(Take(Number(4))), true;
      case 0x8d: case 0x8e: return PushText(Take(Number(8))), true;
      case 'V': return PushText(Line()), true;
      case 'S': {
        const std::string quoted = Line();
        return PushText(quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2)), true;
      }
      default: return false;
    }
  }

  bool Container(unsigned char op) {
    switch (op) {
      case ']': return PushItems(Kind::kList, {}), true;
      case '}': return PushItems(Kind::kDict, {}), true;
      case ')': return PushItems(Kind::kTuple, {}), true;
      case 'l': return PushItems(Kind::kList, AboveMark()), true;
      case 't': return PushItems(Kind::kTuple, AboveMark()), true;
      case 'd': {
        const std::vector<PickleId> items = AboveMark();
        return PushItems(Kind::kDict, {}), Extend(Kind::kDict, items), true;
      }
      case 0x85: return PushItems(Kind::kTuple, Last(1)), true;
      case 0x86: return PushItems(Kind::kTuple, Last(2)), true;
      case 0x87: return PushItems(Kind::kTuple, Last(3)), true;
      case 'a': return Extend(Kind::kList, Last(1)), true;
      case 'e': return Extend(Kind::kList, AboveMark()), true;
      case 's': return Extend(Kind::kDict, Last(2)), true;
      case 'u': return Extend(Kind::kDict, AboveMark()), true;
      default: return false;
    }
  }

  bool Machine(unsigned char op) {
    switch (op) {
      case 0x80: return Take(1), true;                       // PROTO
      case 0x95: return Take(8), true;                       // FRAME
      case '(': return marks_.push_back(stack_.size()), true;
      case '0': return Last(1), true;                        // POP
      case '1': return AboveMark(), true;                    // POP_MARK
      case '2': return Duplicate(), true;
      case 0x94: return Put(memo_.size()), true;             // MEMOIZE
      case 'q': return Put(Number(1)), true;
      case 'r': return Put(Number(4)), true;
      case 'p': case 'g': {
        uint64_t slot = 0;
        if (!absl::SimpleAtoi(Line(), &slot)) return Fail("a slot cannot be read"), true;
        return op == 'p' ? Put(slot) : Get(slot), true;
      }
      case 'h': return Get(Number(1)), true;
      case 'j': return Get(Number(4)), true;
      default: return false;
    }
  }

  const absl::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0, start_ = 0;
  std::string problem_;
  PickleDoc doc_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;
  absl::flat_hash_map<uint64_t, PickleId> memo_;
};

}  // namespace

const PickleValue* PickleDoc::Find(const PickleValue& dict, absl::string_view key) const {
  if (dict.kind != Kind::kDict) return nullptr;
  for (size_t i = dict.items.size(); i >= 2; i -= 2) {  // the last one counts
    const PickleValue& k = at(dict.items[i - 2]);
    if (k.kind == Kind::kText && k.text == key) return &at(dict.items[i - 1]);
  }
  return nullptr;
}

int64_t PickleDoc::Int(const PickleValue& dict, absl::string_view key, int64_t otherwise) const {
  const PickleValue* v = Find(dict, key);
  return v == nullptr || (v->kind != Kind::kInt && v->kind != Kind::kBool) ? otherwise : v->number;
}

std::string PickleDoc::Text(const PickleValue& dict, absl::string_view key) const {
  const PickleValue* v = Find(dict, key);
  return v == nullptr ? std::string() : v->text;
}

absl::StatusOr<PickleDoc> ReadPickle(absl::string_view bytes, const std::string& name) { return Reader(bytes, name).Run(); }

}  // namespace memcrest
