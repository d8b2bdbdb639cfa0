#include "src/shape/bind_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memcrest::shape {
namespace {

// Insertions, deletions and replacements between two names.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// "did you mean X?" for a name close to one of `names`; empty if none is.
std::string Suggestion(absl::string_view name, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(name.size() / 2, 2) + 1;
  for (const std::string& candidate : names) {
    const bool part = absl::StrContains(candidate, name) || absl::StrContains(name, candidate);
    const size_t distance = part ? 1 : EditDistance(name, candidate);
    if (distance < least) best = &candidate;
    least = std::min(least, distance);
  }
  return best == nullptr ? "" : absl::StrCat("did you mean ", *best, "? ");
}

// What an example in a message should bind a symbol to.
int64_t ExampleSize(absl::string_view name) {
  if (absl::StrContains(name, "batch")) return 8;
  if (absl::StrContains(name, "seq") || absl::StrContains(name, "len")) return 1024;
  return absl::StrContains(name, "height") || absl::StrContains(name, "width") ? 224 : 64;
}

class InputBinder {
 public:
  InputBinder(const onnx::Model& model, const Binding& binding, std::vector<Problem>* problems)
      : graph_(model.graph), binding_(binding), problems_(problems), free_(FreeSymbols(model)) {
    for (const FreeSymbol& symbol : free_) names_.push_back(symbol.name);
  }

  BoundInputs Run() {
    TakeSymbols();
    for (const auto& [name, sizes] : binding_.inputs) TakeInput(name, sizes);
    for (const onnx::ValueId id : graph_.inputs)
      result_.sizes.push_back(SizesOf(graph_.values[static_cast<size_t>(id)]));
    ReportUnbound();
    if (result_.old_batch.has_value()) ReplaceBatch();
    return std::move(result_);
  }

 private:
  void TakeSymbols() {
    for (const auto& [name, value] : binding_.symbols) {
      if (value < 1) {
        problems_->push_back(
            {"E0406", absl::StrCat(name, " is bound to ", value), "--bind", "a size is at least 1", ""});
      } else if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
        result_.symbols[name] = value;
      } else {
        TakeUnknownName(name, value);
      }
    }
  }

  void TakeUnknownName(const std::string& name, int64_t value) {
    const std::string literal = InputWithLiteral(value);
    if (name == "batch" && CommonBatch().value_or(value) != value) {
      result_.old_batch = CommonBatch();
    } else if (!literal.empty()) {
      result_.assumptions.push_back(
          {"A0404", absl::StrCat(name, "=", value, " changes nothing: ", literal, " has that size in the file")});
    } else {
      problems_->push_back(
          {"E0405", absl::StrCat("no input has a dimension named ", name), absl::StrCat("--bind ", name, "=", value),
           names_.empty() ? "all dimensions of the inputs are fixed in the file"
                          : absl::StrCat("the inputs' free dimensions are ", absl::StrJoin(names_, ", ")),
           Suggestion(name, names_)});
    }
  }

  // The literal all ranked inputs begin with.
  std::optional<int64_t> CommonBatch() const {
    std::optional<int64_t> batch;
    for (const onnx::ValueId id : graph_.inputs) {
      const onnx::Value& input = graph_.values[static_cast<size_t>(id)];
      if (!input.has_shape) return std::nullopt;
      if (input.shape.empty()) continue;
      const int64_t size = input.shape[0].value;
      if (!input.shape[0].known() || batch.value_or(size) != size) return std::nullopt;
      batch = size;
    }
    return batch;
  }

  // "input_ids dimension 1" for an input with a literal dimension of `size`; empty if there is none.
  std::string InputWithLiteral(int64_t size) const {
    for (const onnx::ValueId id : graph_.inputs) {
      const onnx::Value& input = graph_.values[static_cast<size_t>(id)];
      for (size_t d = 0; d < input.shape.size(); ++d) {
        if (input.shape[d].value == size) return absl::StrCat("dimension ", d, " of ", input.name);
      }
    }
    return "";
  }

  const onnx::Value* FindInput(absl::string_view name) const {
    for (const onnx::ValueId id : graph_.inputs) {
      if (graph_.values[static_cast<size_t>(id)].name == name) return &graph_.values[static_cast<size_t>(id)];
    }
    return nullptr;
  }

  // --input name=sizes: its dimensions give values to plain symbols.
  void TakeInput(const std::string& name, const Dims& sizes) {
    const onnx::Value* input = FindInput(name);
    const std::string where = absl::StrCat("--input ", name, "=", ToText(sizes));
    if (input == nullptr) {
      std::vector<std::string> inputs;
      for (const onnx::ValueId id : graph_.inputs) inputs.emplace_back(graph_.values[static_cast<size_t>(id)].name);
      problems_->push_back({"E0405", absl::StrCat("the network has no input named ", name), where,
                            absl::StrCat("its inputs are ", absl::StrJoin(inputs, ", ")), Suggestion(name, inputs)});
      return;
    }
    if (input->has_shape && input->shape.size() != sizes.size()) {
      problems_->push_back({"E0406",
                            absl::StrCat(name, " has ", input->shape.size(), " dimensions, not ", sizes.size()), where,
                            "", ""});
      return;
    }
    for (size_t d = 0; input->has_shape && d < sizes.size(); ++d) TakeDimension(*input, d, sizes[d], where);
  }

  void TakeDimension(const onnx::Value& input, size_t d, int64_t size, const std::string& where) {
    const onnx::SymDim& dim = input.shape[d];
    if (dim.known()) {
      if (dim.value == size) return;
      result_.assumptions.push_back(
          {"A0405", absl::StrCat("dimension ", d, " of ", input.name, " is ", dim.value, " in the file and was set to ",
                                 size, ": constants in the graph may still hold the old size")});
      return;
    }
    const std::string symbol = dim.expr.empty() ? AnonymousSymbol(input, d) : std::string(dim.expr);
    if (std::find(names_.begin(), names_.end(), symbol) == names_.end()) return;  // an expression: checked in SizesOf
    const auto [it, added] = result_.symbols.try_emplace(symbol, size);
    if (added || it->second == size) return;
    problems_->push_back({"E0406", absl::StrCat(symbol, " is both ", it->second, " and ", size), where,
                          absl::StrCat("dimension ", d, " of ", input.name, " is named ", symbol), ""});
  }

  Dims SizesOf(const onnx::Value& input) {
    const auto stated = binding_.inputs.find(std::string(input.name));
    if (stated != binding_.inputs.end()) {
      CheckExpressions(input, stated->second);
      return stated->second;
    }
    if (!input.has_shape) unranked_.emplace_back(input.name);
    Dims sizes;
    for (size_t d = 0; d < input.shape.size(); ++d) sizes.push_back(SizeOf(input, d).value_or(0));
    return sizes;
  }

  std::optional<int64_t> SizeOf(const onnx::Value& input, size_t d) {
    const onnx::SymDim& dim = input.shape[d];
    if (dim.known()) return dim.value;
    const std::string text = dim.expr.empty() ? AnonymousSymbol(input, d) : std::string(dim.expr);
    const std::optional<int64_t> size = EvaluateExpression(text, result_.symbols);
    if (size.has_value() && *size >= 0) return size;
    bool bound = true;
    for (const absl::string_view symbol : SymbolsOf(text))
      bound = bound && result_.symbols.count(std::string(symbol)) > 0;
    if (bound) {
      problems_->push_back({"E0406",
                            absl::StrCat("dimension ", d, " of ", input.name, " is ", text, ", which gives no size"),
                            "--bind", "with the values bound it is negative or no integer", ""});
    }
    return std::nullopt;
  }

  void CheckExpressions(const onnx::Value& input, const Dims& sizes) {
    for (size_t d = 0; d < input.shape.size() && input.shape.size() == sizes.size(); ++d) {
      const std::optional<int64_t> size = EvaluateExpression(input.shape[d].expr, result_.symbols);
      if (input.shape[d].known() || input.shape[d].expr.empty() || !size.has_value() || *size == sizes[d]) continue;
      problems_->push_back({"E0406",
                            absl::StrCat("dimension ", d, " of ", input.name, " is both ", sizes[d], " and ", *size),
                            "--input", absl::StrCat("the file says ", input.shape[d].expr), ""});
    }
  }

  void ReportUnbound() {
    std::vector<std::string> missing, where, example;
    for (const FreeSymbol& symbol : free_) {
      if (result_.symbols.count(symbol.name) > 0 || IsGivenElsewhere(symbol)) continue;
      missing.push_back(symbol.name);
      where.push_back(absl::StrCat(symbol.name, ": ", absl::StrJoin(symbol.where, ", ")));
      example.push_back(absl::StrCat(symbol.name, "=", ExampleSize(symbol.name)));
    }
    if (!missing.empty()) {
      problems_->push_back({"E0401", absl::StrCat("no size for ", absl::StrJoin(missing, ", ")),
                            absl::StrJoin(where, "; "), "the network was exported with free dimensions",
                            absl::StrCat("--bind ", absl::StrJoin(example, ","))});
    }
    if (!unranked_.empty()) {
      problems_->push_back({"E0401", absl::StrCat("no sizes for ", absl::StrJoin(unranked_, ", ")),
                            "inputs of the network", "the file does not say how many dimensions they have",
                            absl::StrCat("--input ", unranked_[0], "=8x1024")});
    }
  }

  // Whether every input in which the symbol occurs has explicit sizes.
  bool IsGivenElsewhere(const FreeSymbol& symbol) const {
    for (const onnx::ValueId id : graph_.inputs) {
      const onnx::Value& input = graph_.values[static_cast<size_t>(id)];
      if (binding_.inputs.count(std::string(input.name)) > 0) continue;
      for (size_t d = 0; d < input.shape.size(); ++d) {
        if (input.shape[d].known()) continue;
        if (input.shape[d].expr.empty() && AnonymousSymbol(input, d) == symbol.name) return false;
        const std::vector<absl::string_view> used = SymbolsOf(input.shape[d].expr);
        if (std::find(used.begin(), used.end(), symbol.name) != used.end()) return false;
      }
    }
    return true;
  }

  void ReplaceBatch() {
    for (Dims& sizes : result_.sizes) {
      if (!sizes.empty()) sizes[0] = binding_.symbols.at("batch");
    }
  }

  const onnx::Graph& graph_;
  const Binding& binding_;
  std::vector<Problem>* problems_;
  const std::vector<FreeSymbol> free_;
  std::vector<std::string> names_;
  std::vector<std::string> unranked_;
  BoundInputs result_;
};

}  // namespace

std::string AnonymousSymbol(const onnx::Value& input, size_t d) { return absl::StrCat(input.name, "_dim_", d); }

BoundInputs BindInputs(const onnx::Model& model, const Binding& binding, std::vector<Problem>* problems) {
  return InputBinder(model, binding, problems).Run();
}

}  // namespace memcrest::shape

namespace memcrest {

std::vector<FreeSymbol> FreeSymbols(const onnx::Model& model) {
  std::vector<FreeSymbol> symbols;
  const auto note = [&](std::string name, std::string where) {
    const auto same = [&](const FreeSymbol& s) { return s.name == name; };
    auto it = std::find_if(symbols.begin(), symbols.end(), same);
    if (it == symbols.end()) it = symbols.insert(it, {std::move(name), {}});
    it->where.push_back(std::move(where));
  };
  for (const onnx::ValueId id : model.graph.inputs) {
    const onnx::Value& input = model.graph.values[static_cast<size_t>(id)];
    for (size_t d = 0; d < input.shape.size(); ++d) {
      if (input.shape[d].known()) continue;
      const std::string where = absl::StrCat(input.name, " dimension ", d);
      if (input.shape[d].expr.empty()) note(shape::AnonymousSymbol(input, d), where);
      for (const absl::string_view symbol : SymbolsOf(input.shape[d].expr)) note(std::string(symbol), where);
    }
  }
  return symbols;
}

}  // namespace memcrest
