// The module tree of `memcrest inspect`: equal neighbours of a list ("h.0", "h.1" ...) become one line.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/cli/inspect_text.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

struct Branch {
  std::vector<ModuleId> children;
  int64_t own = 0, parameters = 0, calls = 0, operators = 0;  // parameters, operators: of the whole subtree
};

std::vector<Branch> Branches(const Network& network) {
  std::vector<Branch> branches(network.modules.size());
  for (const Call& call : network.calls) {
    if (call.module == kNone) continue;
    Branch& b = branches[static_cast<size_t>(call.module)];
    ++b.calls;
    b.operators += call.end - call.begin;  // inner calls lie inside
  }
  for (size_t m = network.modules.size(); m-- > 0;) {
    Branch& b = branches[m];
    for (const ParamId p : network.modules[m].own) {
      const Param& param = network.params[static_cast<size_t>(p)];
      if (!param.buffer) b.own += NumElements(param.dims);
    }
    b.parameters += b.own;
    const ModuleId parent = network.modules[m].parent;
    if (parent == kNone) continue;
    branches[static_cast<size_t>(parent)].parameters += b.parameters;
    branches[static_cast<size_t>(parent)].children.push_back(static_cast<ModuleId>(m));
  }
  for (Branch& b : branches) std::reverse(b.children.begin(), b.children.end());
  return branches;
}

// "layers.3" -> "3"
std::string Leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }
bool IsNumber(const std::string& text) {
  int64_t ignored;
  return absl::SimpleAtoi(text, &ignored);
}

class TreePrinter {
 public:
  TreePrinter(const Network& network, int depth) : network_(network), depth_(depth), branches_(Branches(network)) {}

  std::string Text() {
    table_.Row({"module", "parameters", "operators", "class"});
    if (network_.modules.empty()) return "";
    stack_.push_back({0, 0, 0, 1});
    while (!stack_.empty()) {
      const Line line = stack_.back();
      stack_.pop_back();
      Print(line);
      if (line.depth < depth_) Push(line.depth + 1, branches_[static_cast<size_t>(line.first)].children);
    }
    return absl::StrCat("\nmodules\n", table_.Text());
  }

 private:
  struct Line {
    ModuleId first, last;
    int depth;
    int64_t count;
  };

  const Branch& BranchOf(ModuleId m) const { return branches_[static_cast<size_t>(m)]; }
  const Module& ModuleOf(ModuleId m) const { return network_.modules[static_cast<size_t>(m)]; }

  // "layers.3" below the parent "model": a list of modules is not a module of the tree.
  std::string BelowParent(const Module& m) const {
    const std::string& parent = ModuleOf(m.parent).path;
    return parent.empty() ? m.path : m.path.substr(parent.size() + 1);
  }

  bool Alike(ModuleId a, ModuleId b) const {
    const Branch &x = BranchOf(a), &y = BranchOf(b);
    return IsNumber(Leaf(ModuleOf(a).path)) && IsNumber(Leaf(ModuleOf(b).path)) && ModuleOf(a).cls == ModuleOf(b).cls &&
           x.parameters == y.parameters && x.operators == y.operators && x.children.size() == y.children.size();
  }

  // Lines of the children, last first: the stack turns them round.
  void Push(int depth, const std::vector<ModuleId>& children) {
    std::vector<Line> lines;
    for (const ModuleId child : children) {
      if (!lines.empty() && Alike(lines.back().first, child)) lines.back().last = child, ++lines.back().count;
      else lines.push_back({child, child, depth, 1});
    }
    stack_.insert(stack_.end(), lines.rbegin(), lines.rend());
  }

  void Print(const Line& line) {
    const Module& m = ModuleOf(line.first);
    const Branch& b = BranchOf(line.first);
    std::string name = m.path.empty() ? "(root)" : BelowParent(m);
    if (line.count > 1) {
      name.resize(name.size() - Leaf(name).size());
      absl::StrAppend(&name, "[", Leaf(m.path), "-", Leaf(ModuleOf(line.last).path), "]");
    }
    if (b.calls > 1) absl::StrAppend(&name, " (called ", b.calls, " times)");
    const std::string times = line.count > 1 ? absl::StrCat(line.count, " x ") : "";
    table_.Row({std::string(2 * static_cast<size_t>(line.depth), ' ') + name,
                absl::StrCat(times, Grouped(b.parameters)), absl::StrCat(times, b.operators), Leaf(m.cls)});
  }

  const Network& network_;
  int depth_;
  std::vector<Branch> branches_;
  std::vector<Line> stack_;
  TextTable table_{"lrrl", 2, kListWidth};
};

}  // namespace

std::string ModuleTreeText(const Network& network, int depth) { return TreePrinter(network, depth).Text(); }

}  // namespace memcrest
