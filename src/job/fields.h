// Tables of named fields over plain structs, and the reader that fills a struct from a Doc through them.
//
// Takes: FieldsOf<T>() of each message type, a Doc.  Gives: the struct filled, and every problem found on the way.
// Guarantees: reads on after a problem; a Doc of strings (flags) and a typed Doc (files) go the same way.
//
// A message may stand as a bare value for its first field (`clip_grad: 1.0`), and a flag may spell it
// "rank=16,targets=q_proj+v_proj". A list may be one bare value; a flag separates elements by commas.
#ifndef MEMCREST_JOB_FIELDS_H_
#define MEMCREST_JOB_FIELDS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "src/job/document.h"
#include "src/job/names.h"

namespace memcrest {

class FieldReader;

// google.protobuf.Value in text form: { number_value: 2 } is 2, { list_value { values {...} } } a list. Others as they
// are.
Doc Unwrapped(const Doc& doc);

template <class T>
struct Field {
  const char* name;
  void (*read)(FieldReader& reader, const Doc& doc, T& owner);
  const char* help;
  const char* metavar = "";  // of the flag; "" for fields without one
  const char* flag = "";     // its name where it is not the field's with - for _
};

// Specialised beside each message type. The first field is the one that a bare value stands for.
template <class T>
absl::Span<const Field<T>> FieldsOf();

class FieldReader {
 public:
  // Problems are said to stand in `source`, or at `flag` where that is not empty ("--precision bf17").
  FieldReader(const Source& source, std::string flag, std::vector<Problem>& problems)
      : source_(source), flag_(std::move(flag)), problems_(problems) {}

  void Read(const Doc& doc, bool& out);
  void Read(const Doc& doc, int64_t& out);
  void Read(const Doc& doc, double& out);
  void Read(const Doc& doc, std::string& out);
  void Read(const Doc& doc, DType& out);  // "bf16", "float32" ...
  void Read(const Doc& doc, Setting& out);
  void Read(const Doc& doc, std::vector<int64_t>& out);  // [8, 1024] or "8x1024"
  void Read(const Doc& doc, std::vector<std::string>& out);

  template <class E>
    requires std::is_enum_v<E>
  void Read(const Doc& doc, E& out) {
    const int index = Choice(doc, NamesOf<E>());
    if (index >= 0) out = static_cast<E>(index);
  }
  template <class T>
  void Read(const Doc& doc, std::optional<T>& out) {
    if (doc.kind == Doc::Kind::kNull || (std::is_class_v<T> && IsOff(doc))) return out.reset();
    if (!out) out.emplace();
    Read(doc, *out);
  }
  // Adds to the map; an entry given again replaces the former.
  template <class V>
  void Read(const Doc& doc, std::map<std::string, V>& out) {
    for (const Doc& entry : Entries(doc)) {
      Enter(entry.key);
      Read(entry, out[entry.key]);
      Leave();
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void Read(const Doc& doc, T& out) { Message(doc, out); }

  // Fields of a map Doc into `out`, by FieldsOf<T>().
  template <class T>
  void Message(const Doc& doc, T& out) {
    if (doc.kind == Doc::Kind::kNull) return;
    if (doc.kind == Doc::Kind::kBool && doc.text == "false") return;
    if (IsBare(doc)) return FieldsOf<T>()[0].read(*this, doc, out);
    std::vector<Doc> storage;
    for (const Doc& item : Items(doc, storage)) One(item, out);
  }

  // A message that stands in a file of its own.
  template <class T>
  void MessageOf(const Source& source, const Doc& doc, T& out) {
    FieldReader(source, "", problems_).Message(doc, out);
  }

  void Add(const Doc& doc, Problem problem);

 private:
  template <class T>
  void One(const Doc& item, T& out) {
    for (const Field<T>& field : FieldsOf<T>()) {
      if (item.key == field.name) return Enter(item.key), field.read(*this, item, out), Leave();
    }
    std::vector<std::string> names;
    for (const Field<T>& field : FieldsOf<T>()) names.push_back(field.name);
    Unknown(item, names);
  }

  void Enter(const std::string& key) { path_.push_back(key); }
  void Leave() { path_.pop_back(); }
  std::string Path() const;
  // "where" of a problem at this value or, for unknown fields, at its key.
  std::string Where(size_t offset) const;
  void Wrong(const Doc& doc, const char* wanted);
  void Unknown(const Doc& item, const std::vector<std::string>& names);
  int Choice(const Doc& doc, absl::Span<const char* const> names);
  static bool IsOff(const Doc& doc);   // false, "none", "false"
  static bool IsBare(const Doc& doc);  // neither a map nor a flag's "a=b"
  // The fields of a map; those of a flag's "a=b,c=d" are made in `storage`.
  const std::vector<Doc>& Items(const Doc& doc, std::vector<Doc>& storage);
  // Entries of a map field in any of its spellings: {a: 1}, [{key: a value: 1}], "a=1,b=2".
  std::vector<Doc> Entries(const Doc& doc);

  const Source& source_;
  std::string flag_;
  std::vector<Problem>& problems_;
  std::vector<std::string> path_;
};

// A field that is a member: Member<&Job::loss>("loss", "...").
template <auto M>
struct MemberOwner;
template <class T, class V, V T::*M>
struct MemberOwner<M> {
  using Type = T;
};
template <auto M>
constexpr auto Member(const char* name, const char* help, const char* metavar = "", const char* flag = "") {
  using T = typename MemberOwner<M>::Type;
  return Field<T>{name, [](FieldReader& reader, const Doc& doc, T& owner) { reader.Read(doc, owner.*M); }, help,
                  metavar, flag};
}

}  // namespace memcrest

#endif  // MEMCREST_JOB_FIELDS_H_
