// The text form of a Network: one line per entity, made to be read, compared in tests and parsed back.
//
//   module 0 "" "Net" parent -
//   param 0 "fc.weight" float32 [3, 4]
//   call 0 module 0 parent - nodes [0, 1)
//   tensor 0 "x" input float32 source 0
//   tensor 1 "fc.weight" param 0 float32
//   tensor 2 "y" float32 source 5 released 0
//   node 0 call 0 %2 = linear(%0, %1, -) {axis=1}
//   inputs %0
//   outputs %2
//
// Ids are dense and stand in order; "-" is an absent id. Definitions (def, last_use) are not written: parsing finds
// them.
#ifndef MEMCREST_GRAPH_TEXT_H_
#define MEMCREST_GRAPH_TEXT_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/graph/network.h"

namespace memcrest {

// Operators live above this folder: the caller tells names and entries (OpEntry::name, Ops().Find).
using OpNameFn = absl::FunctionRef<absl::string_view(const OpEntry*)>;
using OpFindFn = absl::FunctionRef<const OpEntry*(absl::string_view)>;

std::string ToText(const Network& network, OpNameFn name_of);
// "linear(%0, %1, -) {axis=1}" of one node, results in front.
std::string ToText(const Network& network, const Node& node, OpNameFn name_of);
std::string ToText(const Attrs& attrs);

// Errors: E0310 with the line and what was expected. Does not Verify.
absl::StatusOr<Network> ParseNetwork(absl::string_view text, OpFindFn find);

}  // namespace memcrest

#endif  // MEMCREST_GRAPH_TEXT_H_
