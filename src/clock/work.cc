#include "src/clock/work.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "src/ops/products.h"

namespace memcrest {
namespace {

enum class Family : uint8_t { kMove, kProduct, kAddProduct, kConvolution, kAttention, kRecurrent, kLookup, kNorm };

// Every operator that is not here moves its operands.
Family FamilyOf(const OpEntry& op) {
  static const auto* const families = new absl::flat_hash_map<absl::string_view, Family>{
      {"mm", Family::kProduct}, {"bmm", Family::kProduct}, {"linear_folded", Family::kProduct}, {"mv", Family::kProduct},
      {"addmm", Family::kAddProduct}, {"baddbmm", Family::kAddProduct}, {"convolution", Family::kConvolution},
      {"_scaled_dot_product_cudnn_attention", Family::kAttention},
      {"_scaled_dot_product_flash_attention", Family::kAttention},
      {"_scaled_dot_product_efficient_attention", Family::kAttention}, {"_cudnn_rnn", Family::kRecurrent},
      {"batch_norm", Family::kNorm}, {"layer_norm", Family::kNorm}, {"group_norm", Family::kNorm},
      {"embedding", Family::kLookup}, {"embedding_bag", Family::kLookup}, {"index", Family::kLookup},
      {"index_select", Family::kLookup}, {"gather", Family::kLookup}};
  const auto found = families->find(op.name);
  return found == families->end() ? Family::kMove : found->second;
}

double BytesOf(const Meta& m) { return static_cast<double>(m.elements) * BitsOf(m.dtype) / 8; }
double Count(int64_t n) { return static_cast<double>(n); }

// The operands of an executed operator as sizes: in forward its values, in backward what the tape remembers.
struct Shapes {
  const OpEntry& op;
  const Attrs& attrs;
  absl::InlinedVector<const Meta*, 4> in;  // null where absent
  const Meta* out = nullptr;
};

// One matrix product [rows, depth] x [depth, columns], batch times.
void Product(const Shapes& s, size_t left, Work& w) {
  const Meta& a = *s.in[left];
  w.unit = ComputeUnit::kProduct;
  w.depth = a.sizes.empty() ? 1 : a.sizes.back();
  w.columns = s.out->sizes.empty() ? 1 : s.out->sizes.back();
  const bool batched = s.out->sizes.size() == 3 && absl::string_view(s.op.name) != "linear_folded";
  w.batch = batched ? s.out->sizes[0] : 1;
  w.rows = s.out->elements / std::max<int64_t>(1, w.columns * w.batch);
  w.flops = 2 * Count(s.out->elements) * Count(w.depth);
}

void Convolution(const Shapes& s, Work& w) {
  const Meta &x = *s.in[0], &k = *s.in[1];
  const bool transposed = s.attrs.Bool(Key::kTransposed);
  const Meta& wide = transposed ? x : *s.out;  // each of its elements takes one filter's worth of products
  const int64_t filters = std::max<int64_t>(1, k.sizes[0]);
  const int64_t channels = transposed ? k.sizes[1] : filters;
  w.unit = ComputeUnit::kConvolution;
  w.depth = k.elements / filters;
  w.columns = channels;
  w.rows = s.out->elements / std::max<int64_t>(1, channels);
  w.flops = 2 * Count(wide.elements) * Count(w.depth);
}

void Attention(const Shapes& s, Work& w) {
  const Meta &q = *s.in[0], &k = *s.in[1], &v = *s.in[2];
  if (q.sizes.size() != 4 || k.sizes.size() != 4) return;
  w.unit = ComputeUnit::kAttention;
  const double pairs = Count(q.sizes[0]) * Count(q.sizes[1]) * Count(q.sizes[2]) * Count(k.sizes[2]);
  w.flops = 2 * pairs * Count(q.sizes[3] + v.sizes[3]) * (s.attrs.Bool(Key::kCausal) ? 0.5 : 1.0);
}

void Recurrent(const Shapes& s, Work& w) {  // every weight is used once for each step and sample
  double weights = 0;
  for (size_t i = 1; i < s.in.size(); ++i) {
    if (s.in[i] != nullptr && s.in[i]->sizes.size() == 2) weights += Count(s.in[i]->elements);
  }
  const Meta& x = *s.in[0];
  const int64_t steps = x.elements / std::max<int64_t>(1, x.sizes.empty() ? 1 : x.sizes.back());
  w.unit = ComputeUnit::kProduct;
  w.flops = 2 * weights * Count(steps);
}

void Compute(Family family, const Shapes& s, Work& w) {
  switch (family) {
    case Family::kProduct: return Product(s, 0, w);
    case Family::kAddProduct: return Product(s, 1, w);
    case Family::kConvolution: return Convolution(s, w);
    case Family::kAttention: return Attention(s, w);
    case Family::kRecurrent: return Recurrent(s, w);
    case Family::kNorm:
    case Family::kMove:
    case Family::kLookup: break;
  }
}

bool SharesStorage(const Value& result, absl::Span<const Value> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Value& v) { return v && v.storage() == result.storage(); });
}

}  // namespace

Work ForwardWork(const OpCall& call) {
  Work w;
  if (call.out.empty() || !call.out[0]) return w;
  const bool in_place = call.attrs.Bool(Key::kInplace);
  if (!in_place && SharesStorage(call.out[0], call.in)) return w;
  const Family family = FamilyOf(call.op);
  w.kernels = 1;
  Shapes s{call.op, call.attrs, {}, &call.out[0].meta()};
  for (const Value& v : call.in) {
    s.in.push_back(v ? &v.meta() : nullptr);
    if (v && family != Family::kLookup) w.bytes += BytesOf(v.meta());
  }
  for (const Value& v : call.out) {
    if (v) w.bytes += BytesOf(v.meta());
  }
  if (family == Family::kNorm) w.bytes *= 1.5;  // the input is read for the statistics, then for the result
  if (family == Family::kLookup) w.bytes *= 2;  // only the rows that are wanted are read
  if (call.Has(0)) w.dtype = call.in[family == Family::kAddProduct ? 1 : 0].dtype();
  Compute(family, s, w);
  return w;
}

Work BackwardWork(const GradCall& grad) {
  Work w;
  const Family family = FamilyOf(*grad.node.op);
  Shapes s{*grad.node.op, grad.attrs(), {}, &grad.Out()};
  int sides = 0, fresh = 0;
  for (size_t i = 0; i < grad.inputs(); ++i) {
    s.in.push_back(grad.node.in[i] ? &grad.In(i) : nullptr);
    if (!grad.Need(i) || !grad.Result(i)) continue;
    const bool handed_on = grad.HasGrad(0) && grad.Result(i).storage() == grad.Grad(0).storage();
    if (handed_on) continue;
    ++fresh;
    if (s.in[i] != nullptr && s.in[i]->sizes.size() >= 2) ++sides;
    w.bytes += BytesOf(grad.Result(i).meta());
  }
  if (fresh == 0) return w;
  w.kernels = fresh;
  // Each product's gradient reads what arrived; a norm reads it, and its input, for the sums and for the result.
  w.bytes += BytesOf(grad.Out()) * (family == Family::kMove || family == Family::kLookup ? 1 : 2);
  for (const Value& v : grad.unpacked) {
    if (v && family != Family::kLookup) w.bytes += BytesOf(v.meta()) * (family == Family::kNorm ? 2 : 1);
  }
  const size_t left = family == Family::kAddProduct ? 1 : 0;
  if (s.in.size() > left && s.in[left] != nullptr) w.dtype = s.in[left]->dtype;
  Compute(family, s, w);
  // Attention makes the scores again, then four products of their size: 5 against 2. Others: one product a gradient.
  w.flops *= family == Family::kAttention ? 2.5 : std::min(sides, 2);
  return w;
}

}  // namespace memcrest
