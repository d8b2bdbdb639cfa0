// Binds a built model and looks up one value by name.
#ifndef MEMCREST_TESTS_SHAPE_SHAPE_TESTING_H_
#define MEMCREST_TESTS_SHAPE_SHAPE_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/shape/shapes.h"
#include "tests/support/model_builder.h"

namespace memcrest {

// The bound value `name`; a test failure and an empty value if the model cannot be bound.
inline BoundValue Bound(const GraphBuilder& builder, absl::string_view name, const Binding& binding = {}) {
  const onnx::Model model = static_cast<const ModelBuilder&>(builder).Build();
  const absl::StatusOr<BoundShapes> shapes = BindShapes(model, binding);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  if (!shapes.ok()) return {};
  return shapes->values[static_cast<size_t>(model.graph.Find(name))];
}

// The text of the problems of a model that cannot be bound.
inline std::string ErrorOf(const GraphBuilder& builder, const Binding& binding = {}) {
  const absl::StatusOr<BoundShapes> shapes = BindShapes(static_cast<const ModelBuilder&>(builder).Build(), binding);
  EXPECT_FALSE(shapes.ok());
  return std::string(shapes.status().message());
}

// Codes of the assumptions in order.
inline std::vector<std::string> AssumptionsOf(const GraphBuilder& builder, const Binding& binding = {}) {
  const absl::StatusOr<BoundShapes> shapes = BindShapes(static_cast<const ModelBuilder&>(builder).Build(), binding);
  std::vector<std::string> codes;
  if (!shapes.ok()) return {std::string(shapes.status().message())};
  for (const Assumption& assumption : shapes->assumptions) codes.push_back(assumption.code);
  return codes;
}

// A loop over x (4x6) whose carried tensor grows by one row a trip and which stacks a row of x.
inline void AddLoop(ModelBuilder& b, const char* trips) {
  b.Weight("row", {1, 6});
  GraphBuilder body = b.SubGraph();
  body.Input("i", DType::kInt64, {}).Input("go", DType::kBool, {}).Input("grown", DType::kFloat32, {});
  body.Node("Concat", {"grown", "row"}, {"next"})
      .With("axis", 0)
      .Node("Identity", {"go"}, {"still"})
      .Node("Gather", {"x", "i"}, {"picked"});
  body.Output("still").Output("next").Output("picked");
  b.Node("Loop", {trips, "", "x"}, {"final", "stacked"}).WithGraph("body", body);
}

}  // namespace memcrest

#endif  // MEMCREST_TESTS_SHAPE_SHAPE_TESTING_H_
