// One FX node to one framework operator: operands, attributes, results.
#ifndef MEMCREST_LIFT_FX_BUILD_H_
#define MEMCREST_LIFT_FX_BUILD_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "src/lift/aten_schema.h"
#include "src/lift/fx_resolve.h"
#include "src/lift/fx_state.h"

namespace memcrest {

class FxBuilder {
 public:
  FxBuilder(FxState& state, FxResolver& resolver, const LiftOptions& options);
  // Adds what FX node `index` ran. Nodes before it must have been added.
  void Add(int index);
  // Batch norms that were folded into convolutions and run again.
  int restored_norms() const { return restored_norms_; }

 private:
  struct Parts {  // an FX node sorted by its row
    std::vector<const FxArg*> operands;  // in the order of inputs; lists spread
    Attrs attrs;
  };
  bool AddHost(const FxNode& node);
  bool AddPassing(const FxNode& node, int index);
  void AddPlain(const FxNode& node, int index);
  Parts Sort(const FxCall& call, const AtenSchema* schema) const;
  void SortOne(const AtenArg& as, const FxArg& arg, Parts& parts) const;
  void Fill(const Parts& parts, Emission& emission) const;
  bool IsNumber(const FxArg& arg, AttrValue& value) const;
  bool FollowsPermutation(const Emission& emission) const;
  void NameResults(const FxNode& node, Emission& emission) const;
  void Record(const FxNode& node, NodeId id);
  void RestoreConv(const FxNode& node, int index, const Parts& parts, const Scopes& scopes);
  bool LeaveOutNorm(const FxNode& node, const Parts& parts);
  Scopes ScopesOf(int index) const;

  FxState& state_;
  FxResolver& resolver_;
  const LiftOptions& options_;
  int restored_norms_ = 0;
  absl::flat_hash_set<absl::string_view> host_;  // FX names of host integers
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_BUILD_H_
