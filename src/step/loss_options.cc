// Losses with options of their own: chunked, contrastive, with a penalty or with a teacher. Each mirrors the script it stands for:
// a Value is a Python name or a nested call's temporary.
#include <utility>

#include "src/step/forward.h"
#include "src/step/loss.h"

namespace memcrest {
namespace {

Attrs Number(double value) { return Attrs{{Key::kScalar, value}}; }
Attrs Reduction(const char* how) { return Attrs{{Key::kReduction, std::string(how)}}; }
Attrs LastAxis() { return Attrs{{Key::kAxis, int64_t{-1}}}; }

double Option(const Job& job, const char* name, double otherwise) { return AsDouble(Get(job.loss_options, name), otherwise); }

Value Turned(Eager& rt, const Value& v) { return rt.Call("transpose", {v}, {{Key::kPerm, Dims{1, 0}}}); }

// ---- chunks

struct ChunkState {
  Value hidden, labels, weight, bias;
};

// F.cross_entropy(flat(head(h)).float(), y.reshape(-1), reduction="sum")
Value ChunkLoss(Eager& rt, const ChunkState& s) {
  Value rows;
  {
    const Value logits = rt.Call("linear", {s.hidden, s.weight, s.bias});
    rows = Widened(rt, RowsOf(rt, logits));
  }
  const Value target = Flat(rt, s.labels);
  return rt.Call("cross_entropy", {std::move(rows), target}, Reduction("sum"));
}

struct ChunkAgain : OutsideRegion {
  explicit ChunkAgain(ChunkState s) : state(std::move(s)) {}
  void Run(Eager& rt) override { ChunkLoss(rt, state); }
  ChunkState state;
};

Value CheckpointedChunk(Eager& rt, ChunkState state) {
  auto* again = new ChunkAgain(std::move(state));
  Region* region = new Region;
  const Ref<Region> open(region);
  region->state = static_cast<OutsideRegion*>(again);
  region->release = [](void* s) { delete static_cast<OutsideRegion*>(s); };
  rt.set_region(region);
  const Value loss = ChunkLoss(rt, again->state);
  rt.set_region(nullptr);
  return loss;
}

}  // namespace

Value ChunkedCrossEntropy(Eager& rt, const Job& job, const Value& hidden, const Value& labels, const LossContext& context) {
  const int64_t chunks = AsInt(Get(job.loss_options, "chunks"), 8);
  const bool checkpoint = AsBool(Get(job.loss_options, "checkpoint"), true);
  const Attrs cut{{Key::kAxis, int64_t{1}}, {Key::kCount, chunks}};
  const Values states = rt.CallAll("chunk", {hidden}, cut), targets = rt.CallAll("chunk", {labels}, cut);
  Value loss;
  for (size_t i = 0; i < states.size(); ++i) {
    ChunkState state{states[i], targets[i], context.head_weight, context.head_bias};
    const Value part = checkpoint ? CheckpointedChunk(rt, std::move(state)) : ChunkLoss(rt, state);
    loss = loss ? rt.Call("add", {loss, part}) : rt.Call("add", {part}, Number(0));
  }
  return rt.Call("div", {loss}, Number(static_cast<double>(labels.elements())));
}

// InfoNCE between all tokens of two passes: (CE(s, y) + CE(s.T, y)) / 2 with s = a @ b.T / temperature.
Value TokenContrastive(Eager& rt, const Job& job, const Values& passes) {
  const auto unit = [&](const Value& v) { return rt.Call("normalize", {Widened(rt, v)}, LastAxis()); };
  const Value a = unit(passes[0]), b = unit(passes[passes.size() - 1]);
  const Value similarity = rt.Call("div", {rt.Call("matmul", {a, Turned(rt, b)})}, Number(Option(job, "temperature", 0.05)));
  const Value y = rt.Empty(Dims{a.size(0)}, DType::kInt64);
  return ClipLoss(rt, similarity, y);
}

Value ClipLoss(Eager& rt, const Value& out, const Value& labels) {
  const Value rows = rt.Call("cross_entropy", {out, labels}, Reduction("mean"));
  const Value columns = rt.Call("cross_entropy", {Turned(rt, out), labels}, Reduction("mean"));
  return rt.Call("div", {rt.Call("add", {rows, columns})}, Number(2));
}

// CE(x, y) + z * (x.logsumexp(-1) ** 2 * keep).sum() / keep.sum()
Value ZLoss(Eager& rt, const Job& job, const Value& out, const Value& labels) {
  const Value x = Widened(rt, RowsOf(rt, out)), y = Flat(rt, labels);
  const Value keep = rt.Call("ne", {y}, {{Key::kScalar, int64_t{-100}}});
  const Value entropy = rt.Call("cross_entropy", {x, y}, Reduction("mean"));
  const auto penalty = [&] {
    const Value sum = rt.Call("logsumexp", {x}, LastAxis());
    const Value square = rt.Call("pow", {sum}, {{Key::kScalar, 2.0}});
    return rt.Call("sum", {rt.Call("mul", {square, keep})});
  };
  const Value scaled = rt.Call("mul", {penalty()}, Number(Option(job, "z", 1e-4)));
  return rt.Call("add", {entropy, rt.Call("div", {scaled, rt.Call("sum", {keep})})});
}

// alpha * KL(log_softmax(out / T), softmax(teacher / T)) * T * T + (1 - alpha) * CE(out, labels)
Value Distillation(Eager& rt, const Job& job, const Value& out, const Value& labels, const LossContext& context) {
  const Value teacher = context.teacher();
  const double temperature = Option(job, "temperature", 2.0), alpha = Option(job, "alpha", 0.5);
  const auto scaled = [&](const Value& v, const char* op) {
    const Value cooled = rt.Call("div", {Widened(rt, RowsOf(rt, v))}, Number(temperature));
    return rt.Call(op, {cooled}, LastAxis());
  };
  Value soft;
  {
    const Value student = scaled(out, "log_softmax"), target = scaled(teacher, "softmax");
    soft = rt.Call("kl_div", {student, target}, Reduction("batchmean"));
  }
  soft = rt.Call("mul", {rt.Call("mul", {soft}, Number(temperature))}, Number(temperature));
  const auto hard = [&] { return rt.Call("cross_entropy", {Widened(rt, RowsOf(rt, out)), Flat(rt, labels)}, Reduction("mean")); };
  const Value left = rt.Call("mul", {soft}, Number(alpha));
  return rt.Call("add", {left, rt.Call("mul", {hard()}, Number(1 - alpha))});
}

}  // namespace memcrest
