// What lifting a plain ONNX graph has built so far: the network, and the tensor of each ONNX value.
#ifndef MEMCREST_LIFT_PLAIN_STATE_H_
#define MEMCREST_LIFT_PLAIN_STATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/graph/network.h"
#include "src/lift/lift.h"
#include "src/lift/onnx_host.h"
#include "src/lift/onnx_names.h"
#include "src/lift/onnx_view.h"

namespace memcrest {

class PlainState {
 public:
  PlainState(const onnx::Model& model, const LiftOptions& options, Network& network);

  OnnxView view;
  HostValues host;
  OnnxNames names;
  const LiftOptions& options;
  Network& net;
  CallTree calls;
  int current = 0;                               // ONNX node being lifted
  Evidence evidence = Evidence::kMapping;

  const onnx::Node& node() const { return view.node(current); }
  // The tensor of an operand; kNone if it is absent or only the host knows it.
  TensorId Operand(onnx::ValueId v);
  TensorId In(size_t i) { return Operand(view.In(current, i)); }
  // A number the operand is, if it is one.
  std::optional<double> Number(size_t i) const { return view.Number(view.In(current, i)); }
  // Sizes, axes ...: an attribute, or an operand that the file states.
  std::optional<Dims> IntsOf(absl::string_view attribute, size_t operand) const;

  // Adds an operator in the scopes of the current node; results get the sizes of those ONNX values (kNoValue: none).
  // Gives the id of the first result.
  TensorId Emit(absl::string_view op, std::vector<TensorId> in, Attrs attrs, const std::vector<onnx::ValueId>& out);
  // A result that no ONNX value stands for.
  TensorId EmitInner(absl::string_view op, std::vector<TensorId> in, Attrs attrs);
  // The value is the same tensor as that one.
  void Alias(onnx::ValueId v, TensorId t) { tensors_[static_cast<size_t>(v)] = t; }

  // A parameter that the file does not name: made up below the current node's module.
  TensorId NewParam(const std::string& leaf, Dims dims, DType dtype, bool buffer = false);
  // The stored weight as the module keeps it: [out, in] of a file's [in, out].
  TensorId TransposedWeight(onnx::ValueId v);
  // Bytes of heads that are taken to be the embedding's own weight (told as an assumption).
  Bytes tied_bytes = 0;
  std::string ModulePathNow();
  // `fqn`, or the next one that no parameter bears: "conv.weight_1". It is taken from then on.
  std::string FreeName(const std::string& fqn);

 private:
  const Scopes& ScopesHere();
  TensorId NewTensor(onnx::ValueId v);
  ParamId TiedEmbedding(int64_t rows, int64_t columns, const std::string& own) const;
  void AddStored(const onnx::Literal& literal, Tensor& tensor);
  void EnterCall(const std::vector<TensorId>& in, absl::string_view op, Node& node);

  ParamId AddParam(const std::string& fqn, Dims dims, DType dtype, bool buffer);
  TensorId ParamTensor(ParamId id, DType dtype);
  TensorId FoldedWeight(onnx::ValueId v, const std::string& own, Dims dims);

  // Parameters of one name and size, in the order in which a call of their module reads folded copies of them.
  struct Copies {
    std::vector<ParamId> params;
    std::string instance;  // the call that reads now
    size_t seen = 0;       // copies it has read
  };
  absl::flat_hash_map<std::string, Copies> copies_;
  absl::flat_hash_map<onnx::ValueId, ParamId> by_copy_;
  std::vector<TensorId> tensors_;
  absl::flat_hash_map<std::string, ParamId> by_fqn_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_PLAIN_STATE_H_
