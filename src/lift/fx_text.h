// The text form of one FX node, as PyTorch's dynamo exporter notes it on the ONNX nodes it made of it.
//
// Takes: "%mean : [num_users=1] = call_function[target=torch.ops.aten.mean.dim](args = (%relu, [2, 3]), kwargs =
// {...})". Gives: name, target and arguments as a tree of views into that text. Strings stand unquoted there: a word
// that is neither a reference nor a number, None, True or False is text ("torch.float32", "cpu", "reflect", an einsum
// equation).
#ifndef MEMCREST_LIFT_FX_TEXT_H_
#define MEMCREST_LIFT_FX_TEXT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

struct FxArg {
  enum class Kind : uint8_t { kNothing, kRef, kInt, kFloat, kBool, kText, kList };
  Kind kind = Kind::kNothing;
  absl::string_view text;    // kRef: the name without "%"; kText
  int64_t i = 0;             // kInt, kBool
  double f = 0;              // kFloat, kInt
  std::vector<FxArg> items;  // kList

  bool IsNumber() const { return kind == Kind::kInt || kind == Kind::kFloat || kind == Kind::kBool; }
};

struct FxCall {
  absl::string_view name;    // "mean", without "%"
  absl::string_view target;  // "aten.mean.dim", "prims.var.default", "operator.add": without "torch.ops."
  int users = 0;
  std::vector<FxArg> args;
  std::vector<std::pair<absl::string_view, FxArg>> kwargs;

  const FxArg* Keyword(absl::string_view key) const;  // nullptr if absent
};

// False if the text is not of that form (a placeholder, a get_attr, damaged metadata); `call` is then unspecified.
bool ParseFxCall(absl::string_view text, FxCall& call);
// The name alone ("mean"), without parsing the rest; empty if the text does not begin with "%".
absl::string_view FxName(absl::string_view text);
// "slice" of "slice_12" and of "slice": what the tracer called it before it numbered it.
absl::string_view FxBaseName(absl::string_view name);
// 12 of "slice_12"; 0 of "slice".
int64_t FxNumber(absl::string_view name);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_TEXT_H_
