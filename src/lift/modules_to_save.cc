#include "src/lift/modules_to_save.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/problem.h"
#include "src/lift/dropouts.h"

namespace memcrest {
namespace {

class Copier {
 public:
  Copier(Network& network, ModuleId module) : net_(network), root_(module) {}

  void Run() {
    for (size_t m = static_cast<size_t>(root_); m < net_.modules.size(); ++m) {
      if (!Below(static_cast<ModuleId>(m))) continue;
      const std::vector<ParamId> own = net_.modules[m].own;
      for (const ParamId p : own) CopyOf(p);
    }
    for (Node& node : net_.nodes) {
      if (node.call == kNone || !Below(net_.calls[static_cast<size_t>(node.call)].module)) continue;
      for (TensorId& t : node.in) {
        if (t != kNone && net_.tensors[static_cast<size_t>(t)].role == Role::kParam) t = TensorFor(t);
      }
    }
  }

 private:
  bool Below(ModuleId m) const {
    while (m != kNone && m != root_) m = net_.modules[static_cast<size_t>(m)].parent;
    return m == root_;
  }

  // "model.lm_head.weight" and what is tied to it under another name.
  std::string NameOf(const Param& p) const {
    const std::string& path = net_.modules[static_cast<size_t>(root_)].path;
    const std::string inside = absl::StrCat(path, ".");
    for (const std::string& name : p.aliases) {
      if (absl::StartsWith(name, inside)) return absl::StrCat(path, ".modules_to_save.default.", name.substr(inside.size()));
    }
    const bool own = absl::StartsWith(p.fqn, inside);
    return absl::StrCat(path, ".modules_to_save.default.", own ? p.fqn.substr(inside.size()) : "weight");
  }

  ParamId CopyOf(ParamId p) {
    const auto [at, fresh] = copies_.emplace(p, static_cast<ParamId>(net_.params.size()));
    if (!fresh) return at->second;
    Param copy = net_.params[static_cast<size_t>(p)];
    copy.fqn = NameOf(copy);
    copy.aliases.clear();
    copy.trains = Trains::kUnlessFrozen;
    net_.modules[static_cast<size_t>(root_)].own.push_back(at->second);
    net_.params.push_back(std::move(copy));
    return at->second;
  }

  TensorId TensorFor(TensorId original) {
    const auto [at, fresh] = tensors_.emplace(original, static_cast<TensorId>(net_.tensors.size()));
    if (!fresh) return at->second;
    Tensor copy = net_.tensors[static_cast<size_t>(original)];
    copy.param = CopyOf(copy.param);
    copy.name = net_.params[static_cast<size_t>(copy.param)].fqn;
    net_.tensors.push_back(std::move(copy));
    return at->second;
  }

  Network& net_;
  const ModuleId root_;
  std::map<ParamId, ParamId> copies_;
  std::map<TensorId, TensorId> tensors_;
};

}  // namespace

absl::Status CopyModulesToSave(const std::vector<std::string>& names, Network& network) {
  std::vector<Problem> problems;
  for (const std::string& name : names) {
    bool any = false;
    for (size_t m = 1; m < network.modules.size(); ++m) {
      if (!PathEndsWith(network.modules[m].path, name)) continue;
      Copier(network, static_cast<ModuleId>(m)).Run();
      any = true;
    }
    if (any) continue;
    problems.push_back({"E0321", absl::StrCat("no module is named '", name, "'"), "--lora modules_to_save",
                        "a name is the end of a module's path", "see `memcrest inspect` for the module tree"});
  }
  return ToStatus(problems);
}

}  // namespace memcrest
