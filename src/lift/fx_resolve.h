// Names that an FX node reads and no node of the file defines: what the exporter's optimizer removed.
//
// Which value stands for the name follows by elimination: the FX node's ONNX nodes read values that no other argument
// explains. Then the operator that ran is restored where it costs memory or changes what is saved:
//   views (slice, unsqueeze, view ...)         nothing: the name is another name of the value
//   clone (reshape's copy, .contiguous())      contiguous
//   a repetition merged with its first         the operator again, on the first one's operands
//   x * 1, x + 0, cat([x])                     the operator with the neutral number
//   a constant computed from parameters        the operator on the parameter (transposed weights, 1 + weight)
//   a constant computed from nothing           the factory function that made it
//   pad merged into a convolution              pad
#ifndef MEMCREST_LIFT_FX_RESOLVE_H_
#define MEMCREST_LIFT_FX_RESOLVE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "src/lift/fx_forgotten.h"
#include "src/lift/fx_state.h"

namespace memcrest {

class FxResolver {
 public:
  explicit FxResolver(FxState& state);

  // Enters all `names` that are unknown so far into state.by_name or as numbers. `names`: all tensors that the node
  // reads.
  void Resolve(int fx_index, const std::vector<absl::string_view>& names, const Scopes& scopes);
  // The value of a name that is a number after all (a scalar that the exporter made a tensor); nullptr if it is none.
  const AttrValue* NumberOf(absl::string_view name) const;
  // Names that could not be resolved.
  const std::vector<absl::string_view>& lost() const { return lost_; }

 private:
  struct Asked {
    int fx_index;
    const Scopes* scopes;
  };
  void TakeNamed(std::vector<absl::string_view>& unknown, const Asked& asked);
  std::vector<onnx::ValueId> Candidates(const FxNode& node, const std::vector<absl::string_view>& names,
                                        const std::vector<absl::string_view>& unknown) const;
  int RankOf(onnx::ValueId v, bool wants_bool) const;
  void Assign(std::vector<absl::string_view> unknown, std::vector<onnx::ValueId> candidates, const Asked& asked);
  bool NamedAlike(absl::string_view name, onnx::ValueId v) const;
  bool RepeatFactory(absl::string_view name, const Asked& asked);
  void Bind(absl::string_view name, onnx::ValueId v, const Asked& asked);

  TensorId Restore(absl::string_view name, onnx::ValueId v, const Asked& asked);
  TensorId RestoreConstant(absl::string_view name, onnx::ValueId v, const Asked& asked);
  TensorId RestoreFactory(absl::string_view op, absl::string_view name, onnx::ValueId v, const Asked& asked);
  TensorId RestorePad(absl::string_view name, TensorId input, const Asked& asked);
  TensorId RestoreComputed(absl::string_view name, onnx::ValueId v, TensorId input, const Asked& asked);
  TensorId Again(absl::string_view name, absl::string_view op, NodeId original, onnx::ValueId v, const Asked& asked);
  void CountUsers();
  bool HidesUser(absl::string_view name);
  TensorId Emit(absl::string_view op, Attrs attrs, std::vector<TensorId> in, absl::string_view name,
                onnx::ValueId source, const Asked& asked);

  FxState& state_;
  ForgottenParams forgotten_;
  absl::flat_hash_map<absl::string_view, AttrValue> numbers_;
  absl::flat_hash_map<absl::string_view, int>
      named_by_;  // how many FX nodes of the file read the name; filled when first asked
  std::vector<absl::string_view> lost_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_RESOLVE_H_
