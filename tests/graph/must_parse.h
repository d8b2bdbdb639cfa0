// Networks written as text, for the tests of graph.
#ifndef MEMCREST_TESTS_GRAPH_MUST_PARSE_H_
#define MEMCREST_TESTS_GRAPH_MUST_PARSE_H_

#include <utility>

#include <gtest/gtest.h>
#include "src/eager/op.h"
#include "src/graph/text.h"

namespace memcrest {

inline Network MustParse(absl::string_view text) {
  absl::StatusOr<Network> network = ParseNetwork(text, [](absl::string_view name) { return Ops().Find(name); });
  EXPECT_TRUE(network.ok()) << network.status();
  return network.ok() ? *std::move(network) : Network();
}

}  // namespace memcrest

#endif  // MEMCREST_TESTS_GRAPH_MUST_PARSE_H_
