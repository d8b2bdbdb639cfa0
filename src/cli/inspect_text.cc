#include "src/cli/inspect_text.h"

#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/eager/op.h"
#include "src/graph/cut_points.h"
#include "src/report/text_table.h"
#include "src/shape/shapes.h"

namespace memcrest {
namespace {

// "batch x seq" of a declared shape; "?" for what the file does not say.
std::string ShapeText(const onnx::Value& value) {
  if (!value.has_shape) return "unknown rank";
  if (value.shape.empty()) return "scalar";
  std::vector<std::string> dims;
  for (const onnx::SymDim& d : value.shape) {
    dims.push_back(d.known() ? absl::StrCat(d.value) : d.expr.empty() ? "?" : std::string(d.expr));
  }
  return absl::StrJoin(dims, " x ");
}

const char* NameOf(Evidence evidence) {
  static constexpr const char* kNames[] = {"exporter", "pattern", "mapping", "fallback"};
  return kNames[static_cast<size_t>(evidence)];
}

std::string HeadText(const onnx::Model& model) {
  std::vector<std::string> opsets;
  for (const auto& [domain, version] : model.opsets)
    opsets.push_back(absl::StrCat(domain.empty() ? "ai.onnx" : domain, " ", version));
  std::string text =
      absl::StrCat("producer ", model.producer_name, " ", model.producer_version, ", IR ", model.ir_version, ", opset ",
                   absl::StrJoin(opsets, ", "), ", ", model.graph.nodes.size(), " ONNX nodes\n");
  for (const std::string& note : model.notes) absl::StrAppend(&text, "note: ", note, "\n");
  return text;
}

struct Totals {
  int64_t parameters = 0, buffers = 0, count = 0;
  Bytes bytes = 0;
};

Totals TotalsOf(const Network& network) {
  Totals t;
  for (const Param& p : network.params) {
    ++(p.buffer ? t.buffers : t.parameters);
    if (p.buffer) continue;
    t.count += NumElements(p.dims);
    t.bytes += NumElements(p.dims) * BytesOf(p.stored);
  }
  return t;
}

std::string AssumptionsText(const Network& network) {
  if (network.assumptions.empty()) return "";
  std::string text = "\nassumed\n";
  for (const Assumption& a : network.assumptions) absl::StrAppend(&text, "  ", a.code, " ", a.message, "\n");
  return text;
}

}  // namespace

std::string InputsText(const onnx::Model& model) {
  TextTable table("lll", 2, kListWidth);
  for (const onnx::ValueId id : model.graph.inputs) {
    const onnx::Value& v = model.graph.values[static_cast<size_t>(id)];
    table.Row({std::string(v.name), std::string(memcrest::NameOf(v.dtype)), ShapeText(v)});
  }
  std::string text = absl::StrCat("\ninputs\n", table.Text());
  std::vector<std::string> free;
  for (const FreeSymbol& symbol : FreeSymbols(model)) free.push_back(absl::StrCat(symbol.name, "=N"));
  if (!free.empty()) absl::StrAppend(&text, "  free dimensions: --bind ", absl::StrJoin(free, ","), "\n");
  return text;
}

std::string OperatorsText(const Network& network) {
  std::map<std::string, std::array<int64_t, 4>> counts;  // by evidence
  for (const Node& node : network.nodes)
    ++counts[node.op == nullptr ? "?" : node.op->name][static_cast<size_t>(node.origin.evidence)];
  TextTable table("lrl", 2, kListWidth);
  for (const auto& [name, by] : counts) {
    std::vector<std::string> evidence;
    int64_t all = 0;
    for (size_t e = 0; e < by.size(); ++e) {
      all += by[e];
      if (by[e] > 0)
        evidence.push_back(absl::StrCat(NameOf(static_cast<Evidence>(e)), by[e] == 0 ? "" : absl::StrCat(" ", by[e])));
    }
    table.Row({name, absl::StrCat(all), absl::StrJoin(evidence, ", ")});
  }
  return absl::StrCat("\noperators, ", network.nodes.size(),
                      " calls (evidence: exporter's notes, pattern, direct mapping, fallback)\n", table.Text());
}

std::string ParametersText(const Network& network) {
  TextTable table("lllrl", 2, kListWidth);
  for (const Param& p : network.params) {
    std::vector<std::string> notes;
    if (p.buffer) notes.push_back("buffer");
    if (!p.used) notes.push_back("unused");
    if (!p.aliases.empty()) notes.push_back(absl::StrCat("= ", absl::StrJoin(p.aliases, ", ")));
    table.Row({p.fqn, std::string(memcrest::NameOf(p.stored)), ToText(p.dims),
               HumanBytes(NumElements(p.dims) * BytesOf(p.stored)), absl::StrJoin(notes, "; ")});
  }
  return absl::StrCat("\nparameters and buffers\n", table.Text());
}

std::string NodesText(const Network& network) {
  TextTable table("rlllll", 0, kListWidth);
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    const Origin& o = node.origin;
    const std::string onnx = o.first_onnx == kNone ? "-" : absl::StrCat("onnx ", o.first_onnx, "+", o.onnx_count);
    const bool line = o.source_line >= 0 && o.source_line < static_cast<int32_t>(network.source_lines.size());
    table.Row({absl::StrCat(i), node.op == nullptr ? "?" : node.op->name, ModulePath(network, node.call),
               NameOf(o.evidence), onnx, line ? network.source_lines[static_cast<size_t>(o.source_line)] : ""});
  }
  return absl::StrCat("\nnodes\n", table.Text());
}

std::string CutsText(const Network& network) {
  TextTable table("rlll", 0, kListWidth);
  for (const NodeId id : CutPoints(network)) {
    const Node& node = network.nodes[static_cast<size_t>(id)];
    const TensorId result = node.out.empty() ? kNone : node.out[0];
    table.Row({absl::StrCat(id), node.op == nullptr ? "?" : node.op->name, ModulePath(network, node.call),
               result == kNone ? "" : network.tensors[static_cast<size_t>(result)].name});
  }
  return absl::StrCat("\ncut points (all that later work depends on is this one result)\n", table.Text());
}

std::string InspectText(const onnx::Model& model, const Network& network, const InspectOptions& options) {
  const Totals t = TotalsOf(network);
  std::string text = absl::StrCat(HeadText(model), InputsText(model), "\n", Grouped(t.count), " parameters in ",
                                  t.parameters, " tensors (", HumanBytes(t.bytes), "), ", t.buffers, " buffers\n");
  absl::StrAppend(&text, ModuleTreeText(network, options.depth), OperatorsText(network));
  if (options.parameters) absl::StrAppend(&text, ParametersText(network));
  if (options.nodes) absl::StrAppend(&text, NodesText(network));
  if (options.cuts) absl::StrAppend(&text, CutsText(network));
  return absl::StrCat(text, AssumptionsText(network));
}

}  // namespace memcrest
