#include "src/lift/finetune.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/problem.h"
#include "src/eager/op.h"
#include "src/lift/graft.h"
#include "src/lift/lora.h"
#include "src/lift/quantize.h"

namespace memcrest {
namespace {

NodeId FirstEmbedding(const Network& net) {
  for (size_t n = 0; n < net.nodes.size(); ++n) {
    if (absl::string_view(net.nodes[n].op->name) == "embedding") return static_cast<NodeId>(n);
  }
  return kNone;
}

}  // namespace

// A forward hook of the module: it sees every result of every call (one table may serve an encoder and a decoder).
absl::Status RequireInputGrads(Network& net) {
  const NodeId first = FirstEmbedding(net);
  if (first == kNone) {
    return ToStatus(Problem{"E0322", "the network has no embedding", "--input-require-grads",
                            "the option makes the result of the input embedding require a gradient", "leave it out"});
  }
  const std::vector<TensorId>& read = net.nodes[static_cast<size_t>(first)].in;
  const TensorId table = read.empty() ? kNone : read[0];
  Graft graft(net);
  for (size_t n = 0; n < net.nodes.size(); ++n) {
    const Node& node = net.nodes[n];
    if (absl::string_view(node.op->name) != "embedding" || node.in.empty() || node.in[0] != table) continue;
    Call call = net.calls[static_cast<size_t>(node.call)];
    const bool own = call.parent != kNone && call.end - call.begin < 4;  // the embedding, perhaps scaled
    if (!own) call = Call{call.module, call.parent, 0, static_cast<NodeId>(n), static_cast<NodeId>(n) + 1};
    const TensorId result = ResultOf(net, call);
    if (result == kNone) continue;
    graft.At(call.end, own ? call.parent : node.call);
    graft.Redirect(result, graft.Emit("requires_grad_", {result}, {}, net.tensors[static_cast<size_t>(result)].name), call.end);
  }
  graft.Finish();
  return absl::OkStatus();
}

std::string FineTuningKey(const Job& job) {
  std::string key = job.input_require_grads ? "|input_require_grads" : "";
  if (job.lora.has_value()) {
    const Lora& l = *job.lora;
    absl::StrAppend(&key, "|lora ", l.rank, " ", l.dropout, " ", l.dora, " ", NameOf(l.adapter_dtype), " ",
                    absl::StrJoin(l.targets, ","), " ", absl::StrJoin(l.modules_to_save, ","));
  }
  if (job.quantize.has_value()) {
    const Quantize& q = *job.quantize;
    absl::StrAppend(&key, "|quantize ", q.method, " ", q.type, " ", q.double_quant, " ", NameOf(q.compute_dtype), " ",
                    q.prepare_kbit, " ", absl::StrJoin(q.skip, ","));
  }
  return key.empty() ? key : absl::StrCat(key, "|", NameOf(job.precision));
}

absl::Status PrepareFineTuning(const Job& job, Network& network) {
  if (job.quantize.has_value()) MEMCREST_RETURN_IF_ERROR(QuantizeBase(job, network));
  if (job.lora.has_value()) MEMCREST_RETURN_IF_ERROR(InjectLora(*job.lora, IsAmp(job.precision), network));
  if (job.input_require_grads) MEMCREST_RETURN_IF_ERROR(RequireInputGrads(network));
  return absl::OkStatus();
}

}  // namespace memcrest
