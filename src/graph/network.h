// The network: what PyTorch ran, as framework operators over tensors, with its parameters, modules and calls.
//
// Made by lift from an ONNX file; read by every later stage; independent of the job and of bound sizes.
// Nodes stand in execution order. A tensor's sizes come from BoundShapes (`source`) or, where the file has no such
// value, from its operator's own rule. `released_after` says how long Python keeps the tensor: the last use, or later
// when a local name or a running call still refers to it.
#ifndef MEMCREST_GRAPH_NETWORK_H_
#define MEMCREST_GRAPH_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/dims.h"
#include "src/base/dtype.h"
#include "src/base/problem.h"
#include "src/graph/attrs.h"

namespace memcrest {

struct OpEntry;  // src/eager/op.h: one entry per framework operator

using ParamId = int32_t;
using TensorId = int32_t;
using NodeId = int32_t;
using ModuleId = int32_t;
using CallId = int32_t;
inline constexpr int32_t kNone = -1;

// Packed weights: `stored` and `dims` are those of the packed tensor. kQuantState: what unpacks them (absmax, code).
enum class StorageFormat : uint8_t { kPlain, kNf4, kFp4, kInt8, kFp8, kQuantState };
// Who decides whether a parameter trains: the job's freeze and train; not unless `train` names it (the base below
// adapters); always unless `freeze` names it (adapters).
enum class Trains : uint8_t { kByJob, kIfNamed, kUnlessFrozen };

// A parameter or buffer of the module, under the name PyTorch knows it by.
struct Param {
  std::string fqn;                   // "model.layers.0.mlp.up_proj.weight"
  std::vector<std::string> aliases;  // further names of a tied parameter
  Dims dims;                         // as the module stores it, not as the exporter transposed it
  DType stored = DType::kFloat32;
  int order = 0;                     // registration order where known, else file order
  bool buffer = false;
  bool used = true;                  // reaches an output
  bool persistent = true;            // buffers: part of the state dict (told by inspect only)
  StorageFormat format = StorageFormat::kPlain;
  Trains trains = Trains::kByJob;
  bool own_type = false;             // stored as `stored` whatever the job's precision is
};

enum class Role : uint8_t { kActivation, kInput, kParam, kConstant };

struct Tensor {
  std::string name;                // as in the file, for people
  NodeId def = kNone;              // defining node; kNone for inputs, parameters, constants
  int32_t source = kNone;          // onnx::ValueId whose bound sizes it has; kNone: the operator's rule
  DType exported = DType::kUndefined;
  Role role = Role::kActivation;
  ParamId param = kNone;           // role kParam
  Dims dims;                       // role kConstant: literal sizes
  NodeId last_use = kNone;         // last node that reads it
  NodeId released_after = kNone;   // Python drops its reference when this node has run; kNone: when the forward ends
};

struct Module {
  std::string path;  // "model.layers.0"; "" for the root
  std::string cls;   // "torch.nn.modules.linear.Linear"; may be empty
  ModuleId parent = kNone;
  std::vector<ParamId> own;
};

// One execution of a module; a shared layer called twelve times is one module and twelve calls.
// Nodes of a call are the contiguous range [begin, end), those of its inner calls included.
struct Call {
  ModuleId module = kNone;
  CallId parent = kNone;
  int nth = 0;
  NodeId begin = 0, end = 0;
};

enum class Evidence : uint8_t { kExporter, kPattern, kMapping, kFallback };

struct Origin {
  int32_t first_onnx = kNone;  // index of the first ONNX node it stands for
  int32_t onnx_count = 0;
  Evidence evidence = Evidence::kMapping;
  int32_t source_line = kNone;  // index into Network::source_lines
};

struct Node {
  const OpEntry* op = nullptr;
  Attrs attrs;
  std::vector<TensorId> in;   // kNone where an optional operand is absent
  std::vector<TensorId> out;  // kNone where a result is unused
  CallId call = kNone;
  Origin origin;
};

struct Network {
  std::vector<Param> params;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<Module> modules;  // parents before children; [0] is the root
  std::vector<Call> calls;      // parents before children; [0] is the root's
  std::vector<TensorId> inputs, outputs;
  std::vector<std::string> source_lines;
  std::vector<Assumption> assumptions;
};

// Every broken invariant (ids in range, definitions before uses, calls nested and contiguous ...) as a sentence; empty
// if sound.
std::vector<std::string> Verify(const Network& network);
// Sets last_use, and released_after where it is kNone and the tensor is not an output.
void ComputeLastUses(Network& network);
// "model.layers.0.mlp" of the node's call; "" at the root.
const std::string& ModulePath(const Network& network, CallId call);

}  // namespace memcrest

#endif  // MEMCREST_GRAPH_NETWORK_H_
