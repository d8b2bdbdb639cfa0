// Runs the network forward on the virtual runtime: node by node, with Python's reference lifetimes and checkpointed regions.
//
// Takes: Program, the resident values (parameters, buffers, inputs).  Gives: the first output.
// A region's state keeps the values that entered it; Recompute() runs it again from them, in backward.
#ifndef MEMCREST_STEP_FORWARD_H_
#define MEMCREST_STEP_FORWARD_H_

#include <vector>

#include "src/eager/eager.h"
#include "src/eager/region.h"
#include "src/job/job.h"
#include "src/step/engine.h"
#include "src/step/program.h"

namespace memcrest {

// The state of a region that is no range of the network's nodes (a loss's chunk): Region::call is kNone there.
class OutsideRegion {
 public:
  virtual ~OutsideRegion() = default;
  virtual void Run(Eager& rt) = 0;  // once more, in backward
};

class Forward {
 public:
  // `resident`: by TensorId, values that exist before the step (parameters, inputs, constants). All references must outlive this.
  // `engine` is told when calls it watches begin and end.
  Forward(Eager& rt, const Program& program, const Job& job, std::vector<bool> region_calls, std::vector<Value>& resident,
          ParallelEngine* engine = nullptr);
  // By CallId: calls whose ends the engine is told; empty: none.
  void Watch(const std::vector<bool>& calls);

  struct Options {
    bool evaluation = false;  // no regions (nothing is saved anyway)
    NodeId end = kNone;       // first node not run; kNone: all are
    TensorId output = kNone;  // the result; kNone: the network's first output
  };
  // Runs the nodes; the caller has set autocast and gradient mode.
  Value Run(const Options& options);
  // Brings back what `region` would have saved: its nodes again, until the last saved tensor is there.
  void Recompute(Region& region);
  // Backward of a reentrant region: runs it again with history, then a backward of its own.
  void Replay(GradCall& grad);

 private:
  void RunRange(NodeId begin, NodeId end, std::vector<Value>& table, bool regions);
  void RunNode(NodeId n, std::vector<Value>& table);
  void RunRegions(NodeId begin, NodeId end, std::vector<Value>& table, CallId region);
  bool Begins(CallId region) const;
  void EnterRegion(CallId c, std::vector<Value>& table);
  void LeaveRegions(NodeId n);
  NodeId RunReentrant(CallId c, std::vector<Value>& table);  // the node behind it
  void RunInside(CallId c, std::vector<Value>& table);
  void RerunOutside(Region& region);
  template <typename Body>
  void Again(const Body& body);
  const std::vector<TensorId>& RegionInputs(CallId c);  // made before the call, read in it
  std::vector<TensorId> RegionResults(CallId c) const;  // made in the call, read behind it
  void TellEntered(NodeId n, std::vector<Value>& table);
  NodeId NextEdge(NodeId end) const;
  void TellLeft(NodeId n, std::vector<Value>& table);
  Value Lookup(const std::vector<Value>& table, TensorId t) const;

  Eager& rt_;
  const Program& program_;
  const Job& job_;
  std::vector<Value>& resident_;
  ParallelEngine* engine_;  // null: nobody watches
  std::vector<CallId> watched_;     // that the engine watches, by their first node, outer ones first
  std::vector<CallId> entered_;     // of them, those that run now, innermost last
  size_t next_watched_ = 0;
  std::vector<CallId> region_at_;   // by NodeId: the outermost region that begins there, kNone
  std::vector<CallId> next_inside_;  // by CallId: the next inner region that begins at the same node
  std::vector<Ref<Region>> open_;   // innermost last
  size_t recomputing_depth_ = 0;    // so many of them run again
  absl::flat_hash_map<CallId, std::vector<TensorId>> region_inputs_;
};

}  // namespace memcrest

#endif  // MEMCREST_STEP_FORWARD_H_
