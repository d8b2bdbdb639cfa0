#include "src/onnx/model.h"

#include <algorithm>

namespace memcrest::onnx {

const Attribute* Node::Find(absl::string_view attribute) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

int64_t Node::Int(absl::string_view attribute, int64_t otherwise) const {
  const Attribute* const found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kInt ? found->i : otherwise;
}

double Node::Float(absl::string_view attribute, double otherwise) const {
  const Attribute* const found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kFloat ? found->f : otherwise;
}

absl::string_view Node::String(absl::string_view attribute, absl::string_view otherwise) const {
  const Attribute* const found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kString ? found->s : otherwise;
}

const std::vector<int64_t>* Node::Ints(absl::string_view attribute) const {
  const Attribute* const found = Find(attribute);
  return found != nullptr && found->kind == Attribute::Kind::kInts ? &found->ints : nullptr;
}

ValueId Graph::Find(absl::string_view value_name) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const Value& v) { return v.name == value_name; });
  return found == values.end() ? kNoValue : static_cast<ValueId>(found - values.begin());
}

int64_t Model::Opset(absl::string_view domain) const {
  if (domain == "ai.onnx") domain = "";
  const auto found = std::find_if(opsets.begin(), opsets.end(), [&](const auto& o) { return o.first == domain; });
  return found == opsets.end() ? 0 : found->second;
}

}  // namespace memcrest::onnx
