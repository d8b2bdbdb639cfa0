// Reading one line of the text form word by word; spellings shared by the printer and the parser.
#ifndef MEMCREST_GRAPH_TEXT_WORDS_H_
#define MEMCREST_GRAPH_TEXT_WORDS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "src/base/dims.h"
#include "src/graph/network.h"

namespace memcrest {

absl::string_view NameOf(Evidence evidence);  // "exporter", "pattern", "mapping", "fallback"
bool EvidenceFromName(absl::string_view name, Evidence& evidence);

// A cursor over one line. Every Take returns false, and leaves the cursor, if the next word is something else.
class Words {
 public:
  explicit Words(absl::string_view line) : rest_(line) {}
  bool AtEnd();
  absl::string_view rest() const { return rest_; }

  bool Take(absl::string_view mark);       // exactly this word or punctuation
  bool TakeName(absl::string_view& name);  // letters, digits, "_"
  bool TakeInt(int64_t& value);
  bool TakeId(int32_t& id);                // a number, or "-" for kNone
  bool TakeTensor(TensorId& id);           // "%3" or "-"
  bool TakeQuoted(std::string& text);
  bool TakeList(Dims& dims);               // "[1, 2]"
  bool TakeNumber(int64_t& integer, double& real, bool& is_integer);

 private:
  void SkipSpace();
  absl::string_view rest_;
};

}  // namespace memcrest

#endif  // MEMCREST_GRAPH_TEXT_WORDS_H_
