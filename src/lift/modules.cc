#include "src/lift/modules.h"

#include "absl/strings/numbers.h"

namespace memcrest {
namespace {

// Nodes that the exporter inserts for its own bookkeeping name this pseudo module.
constexpr absl::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";

// Takes the next quoted item of "['', 'model']"; false at the end.
bool NextItem(absl::string_view& list, absl::string_view& item) {
  const size_t begin = list.find('\'');
  if (begin == absl::string_view::npos) return false;
  const size_t end = list.find('\'', begin + 1);
  if (end == absl::string_view::npos) return false;
  item = list.substr(begin + 1, end - begin - 1);
  list.remove_prefix(end + 1);
  return true;
}

Scope MakeScope(absl::string_view path, absl::string_view cls) {
  Scope scope;
  scope.cls = cls;
  const size_t at = path.rfind('@');
  if (at != absl::string_view::npos && absl::SimpleAtoi(path.substr(at + 1), &scope.repeat)) path = path.substr(0, at);
  scope.path = path;
  return scope;
}

}  // namespace

Scopes ParseScopes(const onnx::ExporterNotes& notes) {
  Scopes scopes;
  absl::string_view names = notes.name_scopes, classes = notes.class_hierarchy, name, cls;
  while (NextItem(names, name)) {
    if (!NextItem(classes, cls)) cls = "";
    if (name == kNoModule) return {};
    scopes.push_back(MakeScope(name, cls));
  }
  if (!scopes.empty()) scopes.pop_back();  // the operator
  if (!scopes.empty() && scopes.front().path.empty()) scopes.erase(scopes.begin());
  return scopes;
}

Scopes CommonScopes(const Scopes& a, const Scopes& b) {
  Scopes common;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i].path == b[i].path && a[i].repeat == b[i].repeat; ++i)
    common.push_back(a[i]);
  return common;
}

absl::string_view RootClass(const onnx::Model& model) {
  for (const onnx::Node& node : model.graph.nodes) {
    absl::string_view names = node.notes.name_scopes, classes = node.notes.class_hierarchy, name, cls;
    if (NextItem(names, name) && NextItem(classes, cls) && name.empty()) return cls;
  }
  return "";
}

CallTree::CallTree(Network& network, absl::string_view root_class) : net_(network) {
  Module root;
  root.cls = std::string(root_class);
  net_.modules.push_back(std::move(root));
  by_path_.emplace("", 0);
  executions_.push_back(1);
  Call call;
  call.module = 0;
  net_.calls.push_back(call);
}

CallId CallTree::Enter(const Scopes& scopes, uint64_t position, bool marks_start) {
  const size_t kept = Kept(scopes, position, marks_start);
  const NodeId now = static_cast<NodeId>(net_.nodes.size());
  while (open_.size() > kept) {
    net_.calls[static_cast<size_t>(open_.back().call)].end = now;
    open_.pop_back();
  }
  for (size_t i = kept; i < scopes.size(); ++i) Push(scopes[i], position, marks_start);
  return open_.empty() ? 0 : open_.back().call;
}

// How many of the open calls the node is inside of.
size_t CallTree::Kept(const Scopes& scopes, uint64_t position, bool marks_start) const {
  size_t kept = 0;
  while (kept < open_.size() && kept < scopes.size()) {
    const Open& open = open_[kept];
    if (net_.modules[static_cast<size_t>(open.module)].path != scopes[kept].path || open.repeat != scopes[kept].repeat)
      break;
    if (marks_start && open.first_marks && open.first == position) break;  // the module starts over
    ++kept;
  }
  return kept;
}

bool CallTree::Running(const Scopes& scopes) const {
  if (scopes.empty() || open_.size() < scopes.size()) return scopes.empty();
  for (size_t i = 0; i < scopes.size(); ++i) {
    if (net_.modules[static_cast<size_t>(open_[i].module)].path != scopes[i].path ||
        open_[i].repeat != scopes[i].repeat)
      return false;
  }
  return true;
}

void CallTree::Push(const Scope& scope, uint64_t position, bool marks_start) {
  Call call;
  call.module = ModuleAt(scope.path, scope.cls);
  call.parent = open_.empty() ? 0 : open_.back().call;
  call.nth = executions_[static_cast<size_t>(call.module)]++;
  call.begin = call.end = static_cast<NodeId>(net_.nodes.size());
  open_.push_back({static_cast<CallId>(net_.calls.size()), call.module, scope.repeat, position, marks_start});
  net_.calls.push_back(call);
}

void CallTree::Finish() {
  const NodeId end = static_cast<NodeId>(net_.nodes.size());
  for (const Open& open : open_) net_.calls[static_cast<size_t>(open.call)].end = end;
  open_.clear();
  net_.calls[0].end = end;
}

ModuleId CallTree::ModuleAt(absl::string_view path, absl::string_view cls) {
  const auto found = by_path_.find(path);
  if (found != by_path_.end()) {
    std::string& known = net_.modules[static_cast<size_t>(found->second)].cls;
    if (known.empty()) known = std::string(cls);
    return found->second;
  }
  Module module;
  module.path = std::string(path);
  module.cls = std::string(cls);
  module.parent = ParentOf(path);
  const ModuleId id = static_cast<ModuleId>(net_.modules.size());
  net_.modules.push_back(std::move(module));
  executions_.push_back(0);
  by_path_.emplace(path, id);
  return id;
}

void CallTree::OwnParams() {
  for (size_t i = 0; i < net_.params.size(); ++i) {
    const std::string fqn = net_.params[i].fqn;
    const size_t dot = fqn.rfind('.');
    const ModuleId module = ModuleAt(dot == std::string::npos ? "" : absl::string_view(fqn).substr(0, dot), "");
    net_.modules[static_cast<size_t>(module)].own.push_back(static_cast<ParamId>(i));
  }
}

ModuleId CallTree::ParentOf(absl::string_view path) const {
  while (true) {
    const size_t dot = path.rfind('.');
    if (dot == absl::string_view::npos) return 0;
    path = path.substr(0, dot);
    const auto found = by_path_.find(path);
    if (found != by_path_.end()) return found->second;
  }
}

}  // namespace memcrest
