#include "src/step/loss.h"

namespace memcrest {
namespace {

Value CrossEntropy(Eager& rt, const Value& out, const Value& labels, double smoothing = 0) {
  const Value logits = RowsOf(rt, out);
  const Value target = Flat(rt, labels);
  Attrs attrs{{Key::kReduction, std::string("mean")}};
  if (smoothing > 0) attrs.Set(Key::kSmoothing, smoothing);
  return rt.Call("cross_entropy", {logits, target}, std::move(attrs));
}

// transformers' ForCausalLMLoss: logits upcast, labels padded by one and shifted, both flattened.
Value CausalLm(Eager& rt, const Value& out, const Value& labels) {
  const Value logits = Widened(rt, out);
  Dims padded = labels.sizes();
  padded.back() += 1;
  Value shifted;
  {
    const Value wide = rt.Call("pad", {labels}, {{Key::kMode, std::string("constant")}, {Key::kPadding, Dims{0, 1}}}, &padded);
    const Dims sizes = labels.sizes();
    const Value cut = rt.Call("slice", {wide}, {{Key::kAxis, int64_t{-1}}, {Key::kStart, int64_t{1}}}, &sizes);
    shifted = rt.Call("contiguous", {cut});
  }
  const Dims two = {logits.size(-1) == 0 ? 0 : logits.elements() / logits.size(-1), logits.size(-1)};
  const Value rows = rt.Call("view", {logits}, {{Key::kSizes, two}}, &two);
  const Value target = Flat(rt, shifted, "view");
  return rt.Call("cross_entropy", {rows, target}, {{Key::kReduction, std::string("mean")}});
}

Value Mean(Eager& rt, const Value& out) { return rt.Call("mean", {Widened(rt, out)}); }

}  // namespace

Value RowsOf(Eager& rt, const Value& v) {
  if (v.rank() <= 2) return v;
  const int64_t columns = v.size(-1);
  const Dims sizes = {columns == 0 ? 0 : v.elements() / columns, columns};
  return rt.Call("reshape", {v}, {{Key::kSizes, sizes}}, &sizes);
}

Value Flat(Eager& rt, const Value& v, const char* op) {
  const Dims sizes = {v.elements()};
  return rt.Call(op, {v}, {{Key::kSizes, sizes}}, &sizes);
}

Value Widened(Eager& rt, const Value& v) {
  return v.dtype() == DType::kFloat32 ? v : rt.Call("to", {v}, {{Key::kDtype, DType::kFloat32}});
}

Value MakeLabels(Eager& rt, const Job& job, const Meta& output, DType float_input) {
  const Dims& s = output.sizes;
  switch (job.loss) {
    case Loss::kMean:
    case Loss::kOutput:
    case Loss::kTokenContrastive:
      return Value();
    case Loss::kMse:
    case Loss::kBceLogits: {
      const bool low = job.precision == Precision::kBf16 || job.precision == Precision::kFp16;
      const DType type = !low ? DType::kFloat32 : float_input == DType::kUndefined ? DType::kBFloat16 : float_input;
      return rt.MakeResident(s, type, Category::kInputs);
    }
    case Loss::kCrossEntropy2d: {
      Dims sizes(s.begin(), s.end());
      if (sizes.size() > 1) sizes.erase(sizes.begin() + 1);
      return rt.MakeResident(sizes, DType::kInt64, Category::kInputs);
    }
    case Loss::kClip:
      return rt.MakeResident(DimSpan(s).subspan(0, 1), DType::kInt64, Category::kInputs);
    default:
      return rt.MakeResident(DimSpan(s).subspan(0, s.empty() ? 0 : s.size() - 1), DType::kInt64, Category::kInputs);
  }
}

Value ComputeLoss(Eager& rt, const Job& job, Values outs, const Value& labels, const LossContext& context) {
  const Value& out = outs[0];
  switch (job.loss) {
    case Loss::kCrossEntropy:
      return CrossEntropy(rt, out, labels);
    case Loss::kCrossEntropy2d:
      return rt.Call("cross_entropy", {out, labels}, {{Key::kReduction, std::string("mean")}});
    case Loss::kCausalLm:
      return CausalLm(rt, out, labels);
    case Loss::kMse:
      return rt.Call("mse_loss", {out, labels}, {{Key::kReduction, std::string("mean")}});
    case Loss::kBceLogits:
      return rt.Call("binary_cross_entropy_with_logits", {out, labels}, {{Key::kReduction, std::string("mean")}});
    case Loss::kMean:
      return Mean(rt, out);
    case Loss::kOutput:
      return out;
    case Loss::kLabelSmoothing:
      // 0.1: the usual amount (Szegedy et al. 2016), where the job names none.
      return CrossEntropy(rt, out, labels, AsDouble(Get(job.loss_options, "smoothing"), 0.1));
    case Loss::kChunkedCrossEntropy:
      return ChunkedCrossEntropy(rt, job, out, labels, context);
    case Loss::kTokenContrastive:
      return TokenContrastive(rt, job, outs);
    case Loss::kZLoss:
      return ZLoss(rt, job, out, labels);
    case Loss::kDistillation:
      return Distillation(rt, job, out, labels, context);
    case Loss::kClip:
      return ClipLoss(rt, out, labels);
  }
  return out;
}

}  // namespace memcrest
