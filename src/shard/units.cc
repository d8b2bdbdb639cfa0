#include "src/shard/units.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/problem.h"
#include "src/job/pattern.h"

namespace memcrest {
namespace {

absl::string_view LastSegment(absl::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == absl::string_view::npos ? path : path.substr(dot + 1);
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool HasBlockAncestor(const Network& net, const std::vector<bool>& block, ModuleId m) {
  for (ModuleId p = net.modules[static_cast<size_t>(m)].parent; p != kNone; p = net.modules[static_cast<size_t>(p)].parent) {
    if (block[static_cast<size_t>(p)]) return true;
  }
  return false;
}

// The innermost chosen module that holds a parameter of that name: its index in `chosen`, or chosen.size() for the root.
size_t OwnerOf(const Network& net, const std::vector<ModuleId>& chosen, absl::string_view name) {
  size_t owner = chosen.size(), longest = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const std::string& path = net.modules[static_cast<size_t>(chosen[i])].path;
    if (path.size() < longest || name.size() <= path.size() || name[path.size()] != '.' || !absl::StartsWith(name, path)) continue;
    owner = i;
    longest = path.size();
  }
  return owner;
}

}  // namespace

std::vector<ModuleId> RepeatedBlocks(const Network& net) {
  std::vector<bool> block(net.modules.size());
  std::vector<ModuleId> blocks;
  for (size_t m = 1; m < net.modules.size(); ++m) {
    const ModuleId id = static_cast<ModuleId>(m);
    if (!IsNumber(LastSegment(net.modules[m].path)) || HasBlockAncestor(net, block, id)) continue;
    block[m] = true;
    blocks.push_back(id);
  }
  return blocks;
}

absl::StatusOr<std::vector<ModuleId>> ChosenModules(const Network& net, const std::vector<std::string>& patterns) {
  std::vector<ModuleId> chosen;
  std::vector<bool> used(patterns.size());
  for (size_t m = 1; m < net.modules.size(); ++m) {
    bool any = false;
    for (size_t k = 0; k < patterns.size(); ++k) {
      if (!MatchesPattern(net.modules[m].path, patterns[k])) continue;
      used[k] = any = true;
    }
    if (any) chosen.push_back(static_cast<ModuleId>(m));
  }
  std::vector<Problem> problems;
  for (size_t k = 0; k < patterns.size(); ++k) {
    if (used[k]) continue;
    problems.push_back({"E0510", absl::StrCat("no module matches '", patterns[k], "'"), "--wrap",
                        "patterns are dotted module paths, matched segment by segment",
                        "see `memcrest inspect` for the module tree"});
  }
  if (!problems.empty()) return ToStatus(problems);
  return chosen;
}

std::vector<Unit> MakeUnits(const Network& net, const std::vector<ModuleId>& chosen, int64_t every) {
  const size_t step = static_cast<size_t>(std::max<int64_t>(every, 1));
  std::vector<Unit> units((chosen.size() + step - 1) / step + 1);
  for (size_t i = 0; i < chosen.size(); ++i) units[i / step].modules.push_back(chosen[i]);
  units.back().modules.push_back(0);
  std::vector<ParamId> order(net.params.size());
  for (size_t p = 0; p < order.size(); ++p) order[p] = static_cast<ParamId>(p);
  std::stable_sort(order.begin(), order.end(), [&](ParamId a, ParamId b) {
    return net.params[static_cast<size_t>(a)].order < net.params[static_cast<size_t>(b)].order;
  });
  for (const ParamId p : order) {
    const Param& param = net.params[static_cast<size_t>(p)];
    if (param.buffer) continue;
    const size_t owner = OwnerOf(net, chosen, param.fqn);
    size_t unit = owner == chosen.size() ? units.size() - 1 : owner / step;
    for (const std::string& alias : param.aliases) {
      const size_t other = OwnerOf(net, chosen, alias);
      if ((other == chosen.size() ? units.size() - 1 : other / step) != unit) unit = units.size() - 1;
    }
    units[unit].params.push_back(p);
  }
  return units;
}

}  // namespace memcrest
