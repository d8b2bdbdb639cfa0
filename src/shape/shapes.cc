#include "src/shape/shapes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/shape/bind_inputs.h"
#include "src/shape/frame.h"
#include "src/shape/literal_batch.h"

namespace memcrest {
namespace {

using shape::BoundInputs;
using shape::Frame;
using shape::Session;
using shape::State;

// One pass over the top graph with the given input sizes.
struct Pass {
  Pass(const onnx::Model& model, const BoundInputs& inputs, const std::vector<Dims>& sizes)
      : session(model, inputs.symbols), frame(model.graph, nullptr) {
    for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
      const size_t id = static_cast<size_t>(model.graph.inputs[i]);
      frame.values[id].known = true;
      frame.values[id].dtype = model.graph.values[id].dtype;
      frame.values[id].sizes = sizes[i];
      frame.states[id] = State::kTensor;
    }
    RunFrame(session, frame);
  }

  Session session;
  Frame frame;
};

std::vector<Problem> CheckInputSizes(const onnx::Model& model, const BoundInputs& inputs) {
  std::vector<Problem> problems;
  for (size_t i = 0; i < inputs.sizes.size(); ++i) {
    if (shape::AreValidSizes(inputs.sizes[i])) continue;
    const onnx::Value& value = model.graph.values[static_cast<size_t>(model.graph.inputs[i])];
    problems.push_back({"E0402",
                        absl::StrCat("input ", value.name, " of ", ToText(inputs.sizes[i]), " elements is too large"),
                        "--bind", "", "check the numbers given to --bind and --input"});
  }
  return problems;
}

void AddTallies(const std::map<std::string, shape::Tally>& tallies, absl::string_view code, absl::string_view text,
                std::vector<Assumption>* assumptions) {
  for (const auto& [op, tally] : tallies) {
    assumptions->push_back(
        {std::string(code), absl::StrCat(op, ": ", text, " (", tally.count, tally.count == 1 ? " result" : " results",
                                         ", first at ", tally.first, ")")});
  }
}

absl::Status ToStatusOf(const Session& session) {
  std::vector<Problem> problems = session.problems;
  if (session.more_problems > 0) {
    problems.push_back({"E0403", absl::StrCat(session.more_problems, " more nodes cannot be given sizes"), "", "", ""});
  }
  return ToStatus(problems);
}

// The batch of a file without symbols replaced: right only if nothing in the graph holds on to the old one.
absl::Status CheckBatch(const onnx::Model& model, const BoundInputs& inputs, const Pass& replaced) {
  const int64_t old_batch = *inputs.old_batch;
  int64_t new_batch = old_batch;
  std::vector<Dims> sizes = inputs.sizes;
  for (Dims& s : sizes) {
    if (!s.empty()) new_batch = std::exchange(s[0], old_batch);
  }
  const Pass exported(model, inputs, sizes);
  if (!exported.session.problems.empty()) return ToStatusOf(exported.session);
  if (!replaced.session.problems.empty())
    return ToStatus(shape::PinnedBatch(replaced.session.problems[0], old_batch, new_batch));
  const std::optional<Problem> pinned = shape::FindPinnedBatch(exported.frame, replaced.frame, old_batch, new_batch);
  return pinned.has_value() ? ToStatus(*pinned) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<BoundShapes> BindShapes(const onnx::Model& model, const Binding& binding) {
  std::vector<Problem> problems;
  BoundInputs inputs = shape::BindInputs(model, binding, &problems);
  if (problems.empty()) problems = CheckInputSizes(model, inputs);
  if (!problems.empty()) return ToStatus(problems);
  Pass pass(model, inputs, inputs.sizes);
  if (inputs.old_batch.has_value()) {
    MEMCREST_RETURN_IF_ERROR(CheckBatch(model, inputs, pass));
  } else if (!pass.session.problems.empty()) {
    return ToStatusOf(pass.session);
  }
  BoundShapes result;
  result.values = std::move(pass.frame.values);
  result.assumptions = std::move(inputs.assumptions);
  result.control = std::move(pass.session.control);
  AddTallies(pass.session.without_rule, "A0401",
             "no shape rule; the sizes declared in the file or those of the first input are taken",
             &result.assumptions);
  AddTallies(pass.session.data_dependent, "A0402", "sizes depend on data; the largest possible are taken",
             &result.assumptions);
  AddTallies(pass.session.undetermined, "A0403",
             "sizes depend on values unknown before the run; declared sizes or a guess are taken", &result.assumptions);
  AddTallies(pass.session.frozen, "A0406",
             "the exporter froze a size as a constant that does not fit; it was computed anew", &result.assumptions);
  return result;
}

}  // namespace memcrest
