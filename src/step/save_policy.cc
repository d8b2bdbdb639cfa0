#include "src/step/save_policy.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "src/ops/products.h"

namespace memcrest {
namespace {

// "aten.mm.default", "aten::mm", "mm" -> "mm"
std::string Plain(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "aten.")) absl::ConsumePrefix(&name, "aten::");
  return std::string(name.substr(0, name.find('.')));
}

// What a dispatcher below autograd sees of an entry.
absl::string_view AtenName(const OpCall& call) {
  const absl::string_view name = call.op.name;
  if (name == "linear_folded") return FusedLinear(call.in[0].meta(), call.Has(2)) ? "addmm" : "mm";
  if (name == "batch_norm") return "native_batch_norm";
  if (name == "layer_norm") return "native_layer_norm";
  if (name == "group_norm") return "native_group_norm";
  return name.substr(0, name.find('.'));
}

}  // namespace

PolicyRule::PolicyRule(const SavePolicy& policy) {
  for (const std::string& name : policy.save) every_[Plain(name)] = 1;
  for (const auto& [name, n] : policy.every) {
    if (const auto kept = every_.find(Plain(name)); kept != every_.end()) kept->second = std::max<int64_t>(1, n);
  }
}

bool PolicyRule::Keeps(const OpCall& call) {
  const absl::string_view name = AtenName(call);
  const auto rule = every_.find(name);
  if (rule == every_.end()) return false;
  return rule->second == 1 || calls_[rule->first]++ % rule->second == 0;
}

}  // namespace memcrest
