// einsum as at::einsum runs it: operands permuted to one order of labels, then multiplied pair by pair from the left
// (aten/src/ATen/native/Linear.cpp, sumproduct_pair): permute, reshape (copies where not viewable), bmm, view, permute.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "src/eager/eager.h"

namespace memcrest {
namespace {

constexpr int kLabels = 53;  // A-Z, a-z, and the ellipsis
constexpr int kEllipsis = 52;

struct Labels {
  std::vector<std::vector<int>> operands;  // kEllipsis once where "..." stands
  std::vector<int> result;
};

std::vector<int> Parse(absl::string_view text) {
  std::vector<int> labels;
  for (const char c : text) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c))) labels.push_back(c - 'A');
    if (absl::ascii_islower(static_cast<unsigned char>(c))) labels.push_back(26 + c - 'a');
    if (c == '.' && (labels.empty() || labels.back() != kEllipsis)) labels.push_back(kEllipsis);
  }
  return labels;
}

// Without "->": the ellipsis, then the labels that occur once, in alphabetical order.
std::vector<int> ImplicitResult(const std::vector<std::vector<int>>& operands) {
  std::array<int, kLabels> count{};
  for (const auto& labels : operands) {
    for (const int l : labels) ++count[static_cast<size_t>(l)];
  }
  std::vector<int> result;
  if (count[kEllipsis] > 0) result.push_back(kEllipsis);
  for (int l = 0; l < kEllipsis; ++l) {
    if (count[static_cast<size_t>(l)] == 1) result.push_back(l);
  }
  return result;
}

Labels ParseEquation(absl::string_view equation) {
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  Labels labels;
  for (const absl::string_view text : absl::StrSplit(sides[0], ',')) labels.operands.push_back(Parse(text));
  labels.result = sides.size() > 1 ? Parse(sides[1]) : ImplicitResult(labels.operands);
  return labels;
}

Value Permuted(Eager& rt, const Value& v, const Dims& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return v;
  return rt.Call("permute", {v}, {{Key::kPerm, perm}});
}
Value Reshaped(Eager& rt, const Value& v, const Dims& sizes, const char* op = "reshape") {
  return v.sizes() == sizes ? v : rt.Call(op, {v}, {{Key::kSizes, sizes}}, &sizes);
}
Value Summed(Eager& rt, const Value& v, const Dims& axes) {
  return axes.empty() ? v : rt.Call("sum", {v}, {{Key::kAxes, axes}, {Key::kKeepDims, true}});
}

// Common order of labels: the result's, then the others alphabetically; the ellipsis takes `dots` places.
struct Order {
  std::array<int, kLabels> place{};
  int dots = 0, result_rank = 0, rank = 0;
};

Order OrderOf(const Labels& labels, absl::Span<const Value> in) {
  Order order;
  order.place.fill(-1);
  std::array<bool, kLabels> used{};
  for (size_t i = 0; i < labels.operands.size() && i < in.size(); ++i) {
    for (const int l : labels.operands[i]) {
      used[static_cast<size_t>(l)] = true;
      if (l == kEllipsis)
        order.dots = std::max(order.dots, in[i].rank() - static_cast<int>(labels.operands[i].size()) + 1);
    }
  }
  const auto give = [&](int l) {
    order.place[static_cast<size_t>(l)] = order.rank;
    order.rank += l == kEllipsis ? order.dots : 1;
  };
  for (const int l : labels.result) give(l);
  order.result_rank = order.rank;
  if (used[kEllipsis] && order.place[kEllipsis] < 0) give(kEllipsis);
  for (int l = 0; l < kEllipsis; ++l) {
    if (used[static_cast<size_t>(l)] && order.place[static_cast<size_t>(l)] < 0) give(l);
  }
  return order;
}

// The operand with a dimension at every place; places it lacks have size 1.
Value Aligned(Eager& rt, const Value& v, const std::vector<int>& labels, const Order& order) {
  std::vector<std::pair<int, int>> places;  // place, dimension
  int dim = 0;
  const int own_dots = v.rank() - static_cast<int>(labels.size()) + 1;
  for (const int l : labels) {
    const int n = l == kEllipsis ? own_dots : 1, skip = l == kEllipsis ? order.dots - own_dots : 0;
    for (int i = 0; i < n; ++i) places.emplace_back(order.place[static_cast<size_t>(l)] + skip + i, dim++);
  }
  std::sort(places.begin(), places.end());
  Dims perm, sizes(static_cast<size_t>(order.rank), 1);
  for (const auto& [place, d] : places) {
    perm.push_back(d);
    sizes[static_cast<size_t>(place)] = v.size(d);
  }
  return Reshaped(rt, Permuted(rt, v, perm), sizes, "view");
}

// Classes of dimensions of a pair: in both and kept, only in the left, only in the right, summed.
struct Split {
  Dims both, left, right, sum;
  int64_t both_size = 1, left_size = 1, right_size = 1, sum_size = 1;
};

Split SplitOf(const Value& a, const Value& b, const std::vector<bool>& summed) {
  Split s;
  for (int i = 0; i < a.rank(); ++i) {
    const bool in_a = a.size(i) > 1, in_b = b.size(i) > 1;
    if (summed[static_cast<size_t>(i)]) {
      s.sum.push_back(i);
      if (in_a && in_b) s.sum_size *= a.size(i);
    } else if (in_a && in_b) {
      s.both.push_back(i), s.both_size *= a.size(i);
    } else if (in_a) {
      s.left.push_back(i), s.left_size *= a.size(i);
    } else {
      s.right.push_back(i), s.right_size *= b.size(i);
    }
  }
  return s;
}

Dims Joined(std::initializer_list<const Dims*> parts) {
  Dims all;
  for (const Dims* p : parts) all.insert(all.end(), p->begin(), p->end());
  return all;
}

// The product of a pair, summed dimensions kept with size 1.
Value Pair(Eager& rt, Value a, Value b, const std::vector<bool>& summed) {
  if (std::find(summed.begin(), summed.end(), true) == summed.end()) return rt.Call("mul", {a, b});
  Dims only_a, only_b;
  for (int i = 0; i < a.rank(); ++i) {
    if (!summed[static_cast<size_t>(i)] || (a.size(i) > 1) == (b.size(i) > 1)) continue;
    (a.size(i) > 1 ? only_a : only_b).push_back(i);
  }
  a = Summed(rt, a, only_a);
  b = Summed(rt, b, only_b);
  Split s = SplitOf(a, b, summed);
  if (!s.left.empty() && !s.right.empty() &&
      s.right.back() < s.left.front()) {  // the product already lies in the wanted order
    std::swap(a, b);
    std::swap(s.left, s.right);
    std::swap(s.left_size, s.right_size);
  }
  const Dims places = Joined({&s.both, &s.left, &s.sum, &s.right});
  Dims sizes, back(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t d = places[i];
    back[static_cast<size_t>(d)] = static_cast<int64_t>(i);
    const bool one = summed[static_cast<size_t>(d)];
    sizes.push_back(one ? 1 : std::max(a.size(d), b.size(d)));
  }
  const Value left = Reshaped(rt, Permuted(rt, a, Joined({&s.both, &s.left, &s.sum, &s.right})),
                              {s.both_size, s.left_size, s.sum_size});
  const Value right = Reshaped(rt, Permuted(rt, b, Joined({&s.both, &s.sum, &s.right, &s.left})),
                               {s.both_size, s.sum_size, s.right_size});
  return Permuted(rt, Reshaped(rt, rt.Call("bmm", {left, right}), sizes, "view"), back);
}

// Which dimensions beyond the result's no later operand needs.
std::vector<bool> Summable(absl::Span<const Value> ops, const Order& order) {
  std::vector<bool> summed(static_cast<size_t>(order.rank), false);
  for (int d = order.result_rank; d < order.rank; ++d) {
    const bool later = std::any_of(ops.begin() + 2, ops.end(), [d](const Value& v) { return v.size(d) > 1; });
    summed[static_cast<size_t>(d)] = !later && (ops[0].size(d) > 1 || ops[1].size(d) > 1);
  }
  return summed;
}

void Einsum(Eager& rt, OpCall& call) {
  const Labels labels = ParseEquation(call.attrs.Text(Key::kEquation));
  const Order order = OrderOf(labels, call.in);
  std::vector<Value> ops;
  for (size_t i = 0; i < call.in.size() && i < labels.operands.size(); ++i) {
    ops.push_back(Aligned(rt, call.in[i], labels.operands[i], order));
  }
  const bool pairs = ops.size() > 1;
  while (ops.size() > 1) {
    const std::vector<bool> summed = Summable(ops, order);
    Value product = Pair(rt, std::move(ops[0]), std::move(ops[1]), summed);
    ops.erase(ops.begin(), ops.begin() + 2);
    ops.insert(ops.begin(), std::move(product));
  }
  Dims rest, sizes(ops[0].sizes().begin(), ops[0].sizes().begin() + order.result_rank);
  for (int d = order.result_rank; d < order.rank; ++d) rest.push_back(d);
  call.Out(0) = rest.empty() ? ops[0]
                : pairs      ? Reshaped(rt, ops[0], sizes, "view")
                             : Reshaped(rt, Summed(rt, ops[0], rest), sizes, "view");
}

}  // namespace

void RegisterEinsum(OpRegistry& registry) {
  registry.Add({.name = "einsum",
                .forward = Einsum,
                .autocast = Autocast::kLower,
                .composite = true,
                .doc = "bmm on permuted and reshaped operands (copies where not viewable are saved)"});
}

}  // namespace memcrest
