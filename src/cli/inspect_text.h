// What `memcrest inspect` prints: how a file was read and what it was lifted to.
//
// Takes: the model as read and the network it was lifted to.  Gives: text in sections; nothing depends on a job.
#ifndef MEMCREST_CLI_INSPECT_TEXT_H_
#define MEMCREST_CLI_INSPECT_TEXT_H_

#include <string>

#include "src/graph/network.h"
#include "src/onnx/model.h"

namespace memcrest {

struct InspectOptions {
  int depth = 4;            // of the module tree
  bool parameters = false;  // list each parameter
  bool nodes = false;       // list each node with its evidence
  bool cuts = false;        // list where one tensor holds all that later work depends on
};

std::string InspectText(const onnx::Model& model, const Network& network, const InspectOptions& options);

// The sections, for tests.
std::string InputsText(const onnx::Model& model);
std::string ModuleTreeText(const Network& network, int depth);
std::string OperatorsText(const Network& network);
std::string ParametersText(const Network& network);
std::string NodesText(const Network& network);
std::string CutsText(const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_CLI_INSPECT_TEXT_H_
