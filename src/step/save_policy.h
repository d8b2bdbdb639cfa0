// Selective checkpointing: which operators' results a region keeps (torch.utils.checkpoint, CheckpointPolicy.MUST_SAVE).
//
// Takes: the job's SavePolicy. Names are ATen's as a dispatcher sees them: "aten.mm", "aten.addmm.default",
// "aten._scaled_dot_product_flash_attention". Counts calls of an operator, so each run of a region needs a rule of its own.
#ifndef MEMCREST_STEP_SAVE_POLICY_H_
#define MEMCREST_STEP_SAVE_POLICY_H_

#include <cstdint>
#include <map>
#include <string>

#include "src/eager/op.h"
#include "src/job/job.h"

namespace memcrest {

class PolicyRule : public KeepRule {
 public:
  explicit PolicyRule(const SavePolicy& policy);
  bool Keeps(const OpCall& call) override;
  void Restart() { calls_.clear(); }

 private:
  std::map<std::string, int64_t, std::less<>> every_;  // operator -> every n-th call is kept
  std::map<std::string, int64_t, std::less<>> calls_;
};

}  // namespace memcrest

#endif  // MEMCREST_STEP_SAVE_POLICY_H_
