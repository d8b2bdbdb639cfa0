#include "src/lift/upcasts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/graph/insert.h"

namespace memcrest {
namespace {

enum class Style : uint8_t {
  kAsIs,
  kLlama,  // x = x.float(); x * rsqrt(...); weight * x.to(dtype)
  kT5,     // x.float() for the variance only; (x * rsqrt(...)).to(dtype)
  kGemma,  // x = x.float(); (x * rsqrt(...) * (1 + weight)).to(dtype)
};

// A norm written out, by node: pow, mean, add, rsqrt (or sqrt and what inverts it), the product with x, the product
// with the weight.
struct Norm {
  NodeId square = kNone, scaled = kNone, weighted = kNone;
  TensorId x = kNone;
};

class Restorer {
 public:
  explicit Restorer(Network& network) : net_(network) {}

  void Run() {
    const NodeId nodes = static_cast<NodeId>(net_.nodes.size());
    readers_.resize(net_.tensors.size());
    for (NodeId n = 0; n < nodes; ++n) {
      for (const TensorId id : At(n).in) {
        if (id != kNone) readers_[static_cast<size_t>(id)].push_back(n);
      }
    }
    for (NodeId n = 0; n < nodes; ++n) {
      Norm norm;
      if (IsNorm(n, norm)) RestoreNorm(norm);
      else if (IsWideSoftmax(n)) Narrow(n);
    }
    InsertNodes(net_, std::move(insertions_));
  }

 private:
  Node& At(NodeId n) { return net_.nodes[static_cast<size_t>(n)]; }
  bool Is(NodeId n, absl::string_view op) { return n != kNone && op == At(n).op->name; }

  // The one node of the same call that reads the result of `n` and is `op`.
  NodeId Reader(NodeId n, absl::string_view op) {
    if (n == kNone || At(n).out.empty() || At(n).out[0] == kNone) return kNone;
    for (const NodeId reader : readers_[static_cast<size_t>(At(n).out[0])]) {
      if (Is(reader, op) && At(reader).call == At(n).call) return reader;
    }
    return kNone;
  }

  bool IsNorm(NodeId n, Norm& norm) {
    if (!Is(n, "pow") || At(n).attrs.Float(Key::kScalar) != 2 || At(n).in.empty()) return false;
    norm.square = n;
    norm.x = At(n).in[0];
    NodeId inverse = Reader(Reader(Reader(n, "mean"), "add"), "rsqrt");
    if (inverse == kNone) inverse = Reader(Reader(Reader(Reader(n, "mean"), "add"), "sqrt"), "reciprocal");
    norm.scaled = Reader(inverse, "mul");
    if (norm.scaled == kNone || norm.x == kNone) return false;
    const std::vector<TensorId>& factors = At(norm.scaled).in;
    if (std::find(factors.begin(), factors.end(), norm.x) == factors.end()) return false;
    norm.weighted = Reader(norm.scaled, "mul");
    return true;
  }

  const std::string& ClassOf(NodeId n) {
    const CallId call = At(n).call;
    return net_.modules[static_cast<size_t>(net_.calls[static_cast<size_t>(call)].module)].cls;
  }

  // Some line of the norm's nodes spells a cast.
  bool SpellsCast(const Norm& norm) {
    for (NodeId n = norm.square; n <= std::max(norm.scaled, norm.weighted); ++n) {
      const int32_t line = At(n).origin.source_line;
      if (line == kNone || At(n).call != At(norm.square).call) continue;
      for (const absl::string_view cast : {".float()", "float32", ".type_as(", ".to(", ".type("}) {
        if (absl::StrContains(net_.source_lines[static_cast<size_t>(line)], cast)) return true;
      }
    }
    return false;
  }

  Style StyleOf(const Norm& norm) {
    const std::string& cls = ClassOf(norm.square);
    const bool traced = At(norm.square).origin.source_line != kNone;
    const bool library = absl::StartsWith(cls, "transformers.");
    if (traced && !library && !SpellsCast(norm)) return Style::kAsIs;
    if (library && absl::StrContains(cls, "T5LayerNorm")) return Style::kT5;
    if (norm.weighted != kNone && absl::StrContains(cls, "Gemma")) return Style::kGemma;
    const bool named = cls.empty() || absl::StrContains(cls, "RMSNorm") || absl::StrContains(cls, "RmsNorm");
    return named || library || traced ? Style::kLlama : Style::kAsIs;
  }

  void RestoreNorm(const Norm& norm) {
    const Style style = StyleOf(norm);
    if (style == Style::kAsIs) return;
    const TensorId wide = Cast(norm.x, norm.square, norm.square, true);
    std::replace(At(norm.square).in.begin(), At(norm.square).in.end(), norm.x, wide);
    if (style != Style::kT5) std::replace(At(norm.scaled).in.begin(), At(norm.scaled).in.end(), norm.x, wide);
    Narrow(style == Style::kGemma ? norm.weighted : norm.scaled);
  }

  bool IsWideSoftmax(NodeId n) {
    if (!Is(n, "softmax") || At(n).attrs.Type(Key::kDtype) != DType::kFloat32) return false;
    return Reader(n, "dropout") != kNone || Reader(n, "matmul") != kNone || Reader(n, "bmm") != kNone;
  }

  // The result of `n` goes back to the type of the model; who read it reads the cast.
  void Narrow(NodeId n) {
    const TensorId before = At(n).out[0];
    if (std::find(net_.outputs.begin(), net_.outputs.end(), before) != net_.outputs.end()) return;
    const std::vector<NodeId> readers = readers_[static_cast<size_t>(before)];
    const TensorId after = Cast(before, n + 1, n, false);
    for (const NodeId reader : readers) std::replace(At(reader).in.begin(), At(reader).in.end(), before, after);
    std::swap(net_.tensors[static_cast<size_t>(after)].released_after,
              net_.tensors[static_cast<size_t>(before)].released_after);
  }

  // Adds `to` float32 of `x` before node `before`, in the call of `like`.
  TensorId Cast(TensorId x, NodeId before, NodeId like, bool always) {
    Tensor result = net_.tensors[static_cast<size_t>(x)];
    result.name = absl::StrCat(result.name, always ? ".float" : ".narrow");
    result.def = result.last_use = kNone;
    result.role = Role::kActivation;
    result.param = kNone;
    result.released_after = like;
    const TensorId id = static_cast<TensorId>(net_.tensors.size());
    net_.tensors.push_back(std::move(result));
    readers_.emplace_back();
    Insertion insertion;
    insertion.before = before;
    insertion.node.op = &Op("to");
    insertion.node.attrs.Set(Key::kDtype, DType::kFloat32);
    if (always) insertion.node.attrs.Set(Key::kExplicit, true);
    insertion.node.in = {x};
    insertion.node.out = {id};
    insertion.node.call = At(like).call;
    insertion.node.origin = At(like).origin;
    insertion.node.origin.evidence = Evidence::kPattern;
    insertions_.push_back(std::move(insertion));
    return id;
  }

  Network& net_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<Insertion> insertions_;
};

}  // namespace

void RestoreUpcasts(Network& network) {
  const bool low = std::any_of(network.params.begin(), network.params.end(),
                               [](const Param& p) { return !p.buffer && IsLowPrecision(p.stored); });
  if (!low) Restorer(network).Run();
}

}  // namespace memcrest
