// The reading half of the text form.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/graph/text.h"
#include "src/graph/text_words.h"

namespace memcrest {
namespace {

bool KeyFromName(absl::string_view name, Key& key) {
  for (int i = 0; i < static_cast<int>(Key::kKeyCount); ++i) {
    key = static_cast<Key>(i);
    if (NameOf(key) == name) return true;
  }
  return false;
}

class Parser {
 public:
  explicit Parser(OpFindFn find) : find_(find) {}

  absl::StatusOr<Network> Run(absl::string_view text) {
    int number = 0;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      Words words(line);
      if (words.AtEnd()) continue;
      expected_ = "a line of a known kind";
      if (!Line(words) || !words.AtEnd()) return Wrong(number, line);
    }
    LinkDefinitions();
    return std::move(net_);
  }

 private:
  absl::Status Wrong(int number, absl::string_view line) const {
    return ToStatus(Problem{"E0310", absl::StrCat("not the text of a network: expected ", expected_),
                            absl::StrCat("line ", number, ": ", line), "", ""});
  }

  bool Expect(bool found, absl::string_view what) {
    if (!found) expected_ = std::string(what);
    return found;
  }

  bool Line(Words& w) {
    if (w.Take("module")) return ModuleLine(w);
    if (w.Take("param")) return ParamLine(w);
    if (w.Take("call")) return CallLine(w);
    if (w.Take("tensor")) return TensorLine(w);
    if (w.Take("node")) return NodeLine(w);
    if (w.Take("line")) return SourceLine(w);
    if (w.Take("inputs")) return Ids(w, net_.inputs);
    if (w.Take("outputs")) return Ids(w, net_.outputs);
    return w.Take("assumption") && AssumptionLine(w);
  }

  // Ids are dense: the line's own id is its place.
  bool Place(Words& w, size_t count) {
    int32_t id = kNone;
    return Expect(w.TakeId(id) && id == static_cast<int32_t>(count), absl::StrCat("the id ", count));
  }

  bool ModuleLine(Words& w) {
    Module module;
    Dims own;
    if (!Place(w, net_.modules.size()) || !w.TakeQuoted(module.path) || !w.TakeQuoted(module.cls)) return false;
    if (!Expect(w.Take("parent") && w.TakeId(module.parent), "a parent")) return false;
    if (w.Take("own") && !w.TakeList(own)) return false;
    for (const int64_t id : own) module.own.push_back(static_cast<ParamId>(id));
    net_.modules.push_back(std::move(module));
    return true;
  }

  bool ParamLine(Words& w) {
    Param param;
    int64_t number = 0;
    if (!Place(w, net_.params.size()) || !w.TakeQuoted(param.fqn) || !Type(w, param.stored)) return false;
    if (!Expect(w.TakeList(param.dims), "sizes")) return false;
    if (w.Take("order")) {
      if (!w.TakeInt(number)) return false;
      param.order = static_cast<int>(number);
    }
    param.buffer = w.Take("buffer");
    param.used = !w.Take("unused");
    param.persistent = !w.Take("transient");
    if (w.Take("format")) {
      if (!w.TakeInt(number)) return false;
      param.format = static_cast<StorageFormat>(number);
    }
    while (w.Take("alias")) {
      if (!w.TakeQuoted(param.aliases.emplace_back())) return false;
    }
    net_.params.push_back(std::move(param));
    return true;
  }

  bool CallLine(Words& w) {
    Call call;
    if (!Place(w, net_.calls.size()) || !w.Take("module") || !w.TakeId(call.module)) return false;
    if (!Expect(w.Take("parent") && w.TakeId(call.parent), "a parent")) return false;
    if (w.Take("nth") && !w.TakeId(call.nth)) return false;
    if (!w.Take("nodes") || !w.Take("[") || !w.TakeId(call.begin) || !w.Take(",") || !w.TakeId(call.end)) return false;
    net_.calls.push_back(call);
    return w.Take(")");
  }

  bool TensorLine(Words& w) {
    Tensor tensor;
    if (!Place(w, net_.tensors.size()) || !w.TakeQuoted(tensor.name)) return false;
    if (w.Take("input")) tensor.role = Role::kInput;
    if (w.Take("param")) {
      tensor.role = Role::kParam;
      if (!w.TakeId(tensor.param)) return false;
    }
    if (w.Take("constant")) {
      tensor.role = Role::kConstant;
      if (!w.TakeList(tensor.dims)) return false;
    }
    if (!Type(w, tensor.exported)) return false;
    if (w.Take("source") && !w.TakeId(tensor.source)) return false;
    if (w.Take("released") && !w.TakeId(tensor.released_after)) return false;
    net_.tensors.push_back(std::move(tensor));
    return true;
  }

  bool NodeLine(Words& w) {
    Node node;
    absl::string_view op;
    if (!Place(w, net_.nodes.size()) || !w.Take("call") || !w.TakeId(node.call)) return false;
    if (!w.Take("=") && (!Ids(w, node.out) || !w.Take("="))) return false;
    if (!w.TakeName(op)) return false;
    node.op = find_(op);
    if (!Expect(node.op != nullptr, absl::StrCat("a known operator, not \"", op, "\""))) return false;
    if (!w.Take("(") || !Operands(w, node.in)) return false;
    if (w.Take("{") && !Attributes(w, node.attrs)) return false;
    if (w.Take("onnx") && (!w.TakeId(node.origin.first_onnx) || !w.TakeId(node.origin.onnx_count))) return false;
    absl::string_view evidence;
    if (!Expect(w.TakeName(evidence) && EvidenceFromName(evidence, node.origin.evidence), "a kind of evidence"))
      return false;
    if (w.Take("line") && !w.TakeId(node.origin.source_line)) return false;
    net_.nodes.push_back(std::move(node));
    return true;
  }

  bool Operands(Words& w, std::vector<TensorId>& in) { return w.Take(")") || (Ids(w, in) && w.Take(")")); }

  bool Attributes(Words& w, Attrs& attrs) {
    do {
      absl::string_view name;
      Key key;
      if (!w.TakeName(name) || !Expect(KeyFromName(name, key), absl::StrCat("an attribute, not \"", name, "\"")))
        return false;
      if (!w.Take("=") || !Value(w, key, attrs)) return false;
    } while (w.Take(","));
    return w.Take("}");
  }

  bool Value(Words& w, Key key, Attrs& attrs) {
    std::string text;
    Dims list;
    int64_t integer = 0;
    double real = 0;
    bool is_integer = false;
    DType dtype = DType::kUndefined;
    if (w.Take("true")) attrs.Set(key, true);
    else if (w.Take("false")) attrs.Set(key, false);
    else if (w.TakeQuoted(text)) attrs.Set(key, std::move(text));
    else if (w.TakeList(list)) attrs.Set(key, std::move(list));
    else if (w.TakeNumber(integer, real, is_integer)) is_integer ? attrs.Set(key, integer) : attrs.Set(key, real);
    else if (Type(w, dtype)) attrs.Set(key, dtype);
    else return Expect(false, "a value");
    return true;
  }

  bool SourceLine(Words& w) {
    return Place(w, net_.source_lines.size()) && w.TakeQuoted(net_.source_lines.emplace_back());
  }

  bool AssumptionLine(Words& w) {
    Assumption& a = net_.assumptions.emplace_back();
    return w.TakeQuoted(a.code) && w.TakeQuoted(a.message) && w.TakeInt(a.bytes);
  }

  bool Type(Words& w, DType& dtype) {
    absl::string_view name;
    if (!Expect(w.TakeName(name), "an element type")) return false;
    dtype = DTypeFromName(name);
    return Expect(dtype != DType::kUndefined || name == "undefined", "an element type");
  }

  bool Ids(Words& w, std::vector<TensorId>& ids) {
    if (w.AtEnd()) return true;
    do {
      if (!Expect(w.TakeTensor(ids.emplace_back()), "a tensor")) return false;
    } while (w.Take(","));
    return true;
  }

  void LinkDefinitions() {
    const auto of = [&](TensorId id) {
      const bool known = id >= 0 && static_cast<size_t>(id) < net_.tensors.size();
      return known ? &net_.tensors[static_cast<size_t>(id)] : nullptr;
    };
    for (size_t n = 0; n < net_.nodes.size(); ++n) {
      for (const TensorId id : net_.nodes[n].in) {
        if (Tensor* const tensor = of(id); tensor != nullptr) tensor->last_use = static_cast<NodeId>(n);
      }
      for (const TensorId id : net_.nodes[n].out) {
        if (Tensor* const tensor = of(id); tensor != nullptr) tensor->def = static_cast<NodeId>(n);
      }
    }
  }

  OpFindFn find_;
  Network net_;
  std::string expected_;
};

}  // namespace

absl::StatusOr<Network> ParseNetwork(absl::string_view text, OpFindFn find) { return Parser(find).Run(text); }

}  // namespace memcrest
