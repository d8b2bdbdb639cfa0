#include "src/step/adapt.h"

#include <algorithm>
#include <string>

#include "src/eager/op.h"
#include "src/job/pattern.h"
#include "src/lift/repeated_heads.h"
#include "src/step/program.h"

namespace memcrest {
namespace {

bool LowPrecisionJob(const Job& job) { return IsLowPrecision(ModelType(job)); }

// Parameters are stored in float32: casts to float32 then leave no trace, and what looks like one followed the model's type.
bool ExportedInFloat32(const Network& net) {
  return std::none_of(net.params.begin(), net.params.end(), [](const Param& p) { return !p.buffer && IsLowPrecision(p.stored); });
}

class Adapter {
 public:
  Adapter(const Network& network, const Job& job, bool evaluation, Program& program)
      : net_(network), job_(job), evaluation_(evaluation), program_(program) {}

  void Run() {
    program_.nodes.reserve(net_.nodes.size());
    const bool low = LowPrecisionJob(job_) && ExportedInFloat32(net_);
    const bool unpadded = !job_.padding && job_.attention_mask == AttentionMask::kAuto;
    bool dropped = false;
    for (const Node& node : net_.nodes) {
      program_.nodes.push_back(&node);
      if (low && node.attrs.Type(Key::kDtype) == DType::kFloat32 && !node.attrs.Bool(Key::kExplicit)) {
        Changed().attrs.Set(Key::kDtype, ModelType(job_));
      }
      if (unpadded && node.attrs.Has(Key::kMaskKind)) {
        Node& changed = Changed();
        changed.in[3] = kNone;
        if (node.attrs.Text(Key::kMaskKind) == "causal") changed.attrs.Set(Key::kCausal, true);
        GroupQueries(changed);
        dropped = true;
      }
      if (evaluation_ || !job_.eval_modules.empty()) Evaluate(node);
    }
    if (dropped) SkipUnread();
  }

 private:
  // The last node of the program, as one that may be changed.
  Node& Changed() {
    if (program_.adapted.empty() || program_.nodes.back() != &program_.adapted.back()) {
      program_.adapted.push_back(*program_.nodes.back());
      program_.nodes.back() = &program_.adapted.back();
    }
    return program_.adapted.back();
  }

  // Without a mask, heads are not repeated but handed over as they are.
  void GroupQueries(Node& attention) {
    const TensorId key = BeforeRepeat(net_, attention.in[1]), value = BeforeRepeat(net_, attention.in[2]);
    if (key == kNone || value == kNone) return;
    attention.in[1] = key;
    attention.in[2] = value;
    attention.attrs.Set(Key::kGqa, true);
  }

  void Evaluate(const Node& node) {
    if (!evaluation_ && !MatchesAny(ModulePath(net_, node.call), job_.eval_modules, true)) return;
    const absl::string_view op = node.op->name;
    if (op == "batch_norm") Changed().attrs.Set(Key::kTraining, false);
    if (op == "dropout" || op == "feature_dropout" || op == "alpha_dropout" || op == "scaled_dot_product_attention") {
      Changed().attrs.Set(Key::kP, 0.0);
    }
  }

  // Nodes whose results were read only by a dropped mask.
  void SkipUnread() {
    std::vector<bool> read(net_.tensors.size());
    for (const TensorId t : net_.outputs) read[static_cast<size_t>(t)] = true;
    for (size_t n = program_.nodes.size(); n-- > 0;) {
      const Node& node = *program_.nodes[n];
      const bool needed = std::any_of(node.out.begin(), node.out.end(), [&](TensorId t) {
        return t != kNone && (read[static_cast<size_t>(t)] || net_.tensors[static_cast<size_t>(t)].last_use == kNone);
      });
      if (!needed) {
        program_.nodes[n] = nullptr;
        continue;
      }
      for (const TensorId t : node.in) {
        if (t != kNone) read[static_cast<size_t>(t)] = true;
      }
    }
  }

  const Network& net_;
  const Job& job_;
  const bool evaluation_;
  Program& program_;
};

}  // namespace

void AdaptNodes(const Network& network, const Job& job, bool evaluation, Program& program) {
  Adapter(network, job, evaluation, program).Run();
}

}  // namespace memcrest
