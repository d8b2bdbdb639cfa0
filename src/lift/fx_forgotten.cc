#include "src/lift/fx_forgotten.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/lift/position_tables.h"

namespace memcrest {
namespace {

using onnx::kNoValue;

bool IsOneOf(absl::string_view op, std::initializer_list<absl::string_view> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

Dims Reversed(const Dims& dims) { return Dims(dims.rbegin(), dims.rend()); }

Dims WithoutOnes(const Dims& dims) {
  Dims kept;
  for (const int64_t n : dims) {
    if (n != 1) kept.push_back(n);
  }
  return kept;
}

}  // namespace

TensorId ForgottenParams::Restore(absl::string_view name, absl::string_view op, onnx::ValueId v, int fx_index,
                                  const Scopes& scopes) {
  const onnx::Literal& literal = *state_.LiteralOf(v);
  if (!IsFloating(literal.dtype)) return kNone;
  const Wanted wanted{name, op, v, fx_index, scopes, literal};
  const Scopes around = ParseScopes(state_.fx.nodes[static_cast<size_t>(fx_index)].notes->notes);
  const ParamId param = Pick(wanted, around);
  if (param == kNone || !state_.params.StoredLike(literal.dtype)) return kNone;
  if (op == "cat" || op == "stack") return Joined(wanted, param);
  const ParamId index = state_.params.ForgottenBuffer(param);
  if (index != kNone) {
    const TensorId bias = RelativeBias(wanted, param, index);
    if (bias != kNone) return bias;
  }
  if (IsOneOf(op, {"permute", "transpose", "t"})) return Transposed(wanted, param);
  Dims dims = literal.dims;
  if (op == "unsqueeze") dims = WithoutOnes(dims);
  // A copy of a parameter is made of its expansion over the batch.
  if (IsOneOf(op, {"clone", "contiguous", "expand", "repeat"}) && !dims.empty()) dims[0] = 1;
  const TensorId tensor = Take(param, dims, literal.dtype);
  if (IsOneOf(op, {"add", "sub", "rsub", "mul", "div", "pow"}))
    return Emit(wanted, op, {{Key::kScalar, 1.0}}, {tensor}, true);
  if (op == "clone" || op == "contiguous") {
    return Emit(wanted, "contiguous", {}, {Emit(wanted, "expand", {{Key::kSizes, literal.dims}}, {tensor}, false)},
                true);
  }
  if (op.empty() || IsOneOf(op, {"slice", "unsqueeze", "squeeze", "view", "select", "alias", "detach"})) op = "view";
  return Emit(wanted, op, {{Key::kSizes, literal.dims}}, {tensor}, true);
}

ParamId ForgottenParams::Pick(const Wanted& wanted, const Scopes& around) const {
  const bool wide = WithoutOnes(wanted.literal.dims).size() > 1;
  const auto fits = [&](absl::string_view leaf) { return !wide || leaf != "bias"; };
  for (size_t i = around.size(); i-- > 0;) {
    const ParamId id = state_.params.Forgotten(around[i].path, i + 1 == around.size(), fits);
    if (id != kNone) return id;
  }
  return state_.params.Forgotten("", false, fits);
}

TensorId ForgottenParams::Take(ParamId id, const Dims& dims, DType dtype) {
  state_.params.SetDims(id, dims);
  state_.net.params[static_cast<size_t>(id)].stored = dtype;
  return state_.OfParam(id);
}

// The parts are what the module owns and nothing names, buffers included, of equal size.
TensorId ForgottenParams::Joined(const Wanted& wanted, ParamId first) {
  const std::vector<ParamId> parts = state_.params.ForgottenBeside(first);
  Dims dims = wanted.literal.dims;
  const int64_t count = static_cast<int64_t>(parts.size());
  if (!dims.empty() && dims[0] % count == 0) dims[0] /= count;
  std::vector<TensorId> in;
  for (const ParamId id : parts) in.push_back(Take(id, dims, wanted.literal.dtype));
  return Emit(wanted, wanted.op, {{Key::kAxis, int64_t{0}}}, in, true);
}

TensorId ForgottenParams::Transposed(const Wanted& wanted, ParamId param) {
  const Dims dims = Reversed(wanted.literal.dims);
  Dims perm;
  for (size_t i = dims.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return Emit(wanted, "permute", {{Key::kPerm, perm}}, {Take(param, dims, wanted.literal.dtype)}, true);
}

// table[index]: [n, n, heads]; then permuted to heads first and copied, as attention adds it.
TensorId ForgottenParams::RelativeBias(const Wanted& wanted, ParamId table, ParamId index) {
  int64_t tokens = 0, heads = 0;
  bool heads_first = false;
  Dims dims = wanted.literal.dims;
  if (dims.size() == 4 && dims[0] == 1) dims.erase(dims.begin());
  if (!TableSizes(dims, tokens, heads, heads_first) || TableRows(tokens) == 0) return kNone;
  const bool flat = dims.size() == 2;
  const TensorId indices = Take(index, flat ? Dims{tokens * tokens} : Dims{tokens, tokens}, DType::kInt64);
  const TensorId values = Take(table, {TableRows(tokens), heads}, wanted.literal.dtype);
  if (!heads_first) return Emit(wanted, "index", {}, {values, indices}, true);
  const TensorId picked = Emit(wanted, "index", {}, {values, indices}, false);
  const TensorId turned = Emit(wanted, "permute", {{Key::kPerm, Dims{2, 0, 1}}}, {picked}, false);
  if (IsOneOf(wanted.op, {"permute", "transpose"})) return turned;
  const TensorId copied = Emit(wanted, "contiguous", {}, {turned}, false);
  return Emit(wanted, "view", {{Key::kSizes, wanted.literal.dims}}, {copied}, true);
}

TensorId ForgottenParams::Emit(const Wanted& wanted, absl::string_view op, Attrs attrs, std::vector<TensorId> in,
                               bool last) {
  Emission emission;
  emission.op = op;
  emission.attrs = std::move(attrs);
  emission.in.assign(in.begin(), in.end());
  emission.out.emplace_back(last ? std::string(wanted.name) : absl::StrCat(wanted.name, ".", op),
                            last ? wanted.v : kNoValue);
  emission.evidence = Evidence::kPattern;
  return state_.Emit(std::move(emission), wanted.scopes, wanted.fx_index);
}

}  // namespace memcrest
