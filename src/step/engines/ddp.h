// DistributedDataParallel: whole model on every rank, gradients reduced in buckets (torch/nn/parallel/distributed.py,
// torch/csrc/distributed/c10d/reducer.cpp).
//
// Buckets are flat tensors that stay: one more copy of the trainable bytes. Until the first backward there is one bucket (the
// reducer cannot know the order), unless find_unused_parameters fixes the buckets for good; the second forward makes them again
// in the order in which gradients arrived. gradient_as_bucket_view: an arriving gradient is copied into its bucket and .grad
// becomes a view of it, so zero_grad frees nothing.
#ifndef MEMCREST_STEP_ENGINES_DDP_H_
#define MEMCREST_STEP_ENGINES_DDP_H_

#include <vector>

#include "src/step/engine.h"

namespace memcrest {

class Ddp : public ParallelEngine {
 public:
  using ParallelEngine::ParallelEngine;
  void Wrap() override;
  void BeginForward(bool last) override;
  Value EndForward(Value out) override;
  void GradReady(Leaf& leaf) override;

 private:
  struct Bucket {
    Value flat;
    size_t tensors = 0, arrived = 0;
  };
  struct Place {
    size_t bucket = 0;
    int64_t offset = 0;
  };
  void MakeBuckets(const std::vector<Leaf*>& order, absl::Span<const Bytes> limits, bool reversed);
  void SyncBuffers();
  void Reduce(Bucket& bucket);
  size_t IndexOf(const Leaf& leaf) const;

  std::vector<Bucket> buckets_;
  std::vector<Place> places_;        // by index of the leaf
  std::vector<size_t> index_of_;     // by ParamId: index of its leaf
  std::vector<Leaf*> arrival_;       // of the first reduced backward
  bool syncs_ = true, rebuilt_ = false;
};

}  // namespace memcrest

#endif  // MEMCREST_STEP_ENGINES_DDP_H_
