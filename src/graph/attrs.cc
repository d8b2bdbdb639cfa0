#include "src/graph/attrs.h"

#include <array>

namespace memcrest {
namespace {

constexpr std::array<absl::string_view, static_cast<size_t>(Key::kKeyCount)> kNames = {
    "axis", "axes", "keepdims", "perm", "sizes", "normalized_rank", "stride", "padding", "dilation", "kernel",
    "output_padding", "groups", "transposed", "ceil_mode", "count_include_pad", "p", "training", "eps", "alpha",
    "beta", "scale", "causal", "gqa", "approximate", "mode", "dtype", "scalar", "scalar_first", "inplace",
    "equation", "hidden", "layers", "bidirectional", "batch_first", "gates", "start", "step", "count",
    "memory_format", "unsafe", "accumulate", "ignore_index", "reduction", "smoothing", "padding_index",
    "replaces", "filled", "mask_kind", "explicit"};
static_assert(!kNames.back().empty(), "every key has a name");

}  // namespace

absl::string_view NameOf(Key key) {
  const size_t i = static_cast<size_t>(key);
  return i < kNames.size() ? kNames[i] : "?";
}

void Attrs::Set(Key key, AttrValue value) {
  for (auto& [k, v] : items_) {
    if (k == key) {
      v = std::move(value);
      return;
    }
  }
  items_.emplace_back(key, std::move(value));
}

const AttrValue* Attrs::Find(Key key) const {
  for (const auto& [k, v] : items_) {
    if (k == key) return &v;
  }
  return nullptr;
}

bool Attrs::Bool(Key key, bool otherwise) const {
  const AttrValue* v = Find(key);
  if (v == nullptr) return otherwise;
  if (const bool* b = std::get_if<bool>(v)) return *b;
  if (const int64_t* i = std::get_if<int64_t>(v)) return *i != 0;
  return otherwise;
}

int64_t Attrs::Int(Key key, int64_t otherwise) const {
  const AttrValue* v = Find(key);
  if (v == nullptr) return otherwise;
  if (const int64_t* i = std::get_if<int64_t>(v)) return *i;
  if (const double* d = std::get_if<double>(v)) return static_cast<int64_t>(*d);
  if (const bool* b = std::get_if<bool>(v)) return *b ? 1 : 0;
  return otherwise;
}

double Attrs::Float(Key key, double otherwise) const {
  const AttrValue* v = Find(key);
  if (v == nullptr) return otherwise;
  if (const double* d = std::get_if<double>(v)) return *d;
  if (const int64_t* i = std::get_if<int64_t>(v)) return static_cast<double>(*i);
  return otherwise;
}

absl::string_view Attrs::Text(Key key, absl::string_view otherwise) const {
  const AttrValue* v = Find(key);
  const std::string* s = v == nullptr ? nullptr : std::get_if<std::string>(v);
  return s == nullptr ? otherwise : absl::string_view(*s);
}

DType Attrs::Type(Key key, DType otherwise) const {
  const AttrValue* v = Find(key);
  const DType* d = v == nullptr ? nullptr : std::get_if<DType>(v);
  return d == nullptr ? otherwise : *d;
}

const Dims* Attrs::Ints(Key key) const {
  const AttrValue* v = Find(key);
  return v == nullptr ? nullptr : std::get_if<Dims>(v);
}

}  // namespace memcrest
