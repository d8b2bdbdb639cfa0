// Python source lines in an exporter's stack trace: frames, and what the statement of a line does with names.
//
// Takes: "File \"a.py\", line 7, in forward\n    h = self.f(x)\n  File ...", outermost frame first.
// Gives: frames, and a shallow reading of each line: which local names it assigns, whether it returns, how many calls
// it makes. A line that only continues a statement is what Python's traceback shows of it: the line where the call
// begins.
#ifndef MEMCREST_LIFT_SOURCE_LINES_H_
#define MEMCREST_LIFT_SOURCE_LINES_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace memcrest {

struct SourceFrame {
  absl::string_view file, function, code;
  int line = 0;
};
using SourceFrames = absl::InlinedVector<SourceFrame, 12>;
SourceFrames ParseStack(absl::string_view trace);

struct Statement {
  absl::InlinedVector<absl::string_view, 2> targets;  // "h"; "self.h" where an attribute is assigned
  size_t first_targets = 0;  // of these, what the first of several statements on the line assigns
  int statements = 0;        // on the line
  char augmented = '\0';  // '+' of "h += s"
  bool appends = false;   // "outputs.append(h)": the name keeps what it had
  bool returns = false;
  int calls = 0;          // "f(" in the line
};
Statement ParseStatement(absl::string_view code);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_SOURCE_LINES_H_
