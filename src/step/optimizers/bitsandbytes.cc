// bitsandbytes' optimizers (bitsandbytes/optim/optimizer.py): parameter by parameter, in place, no temporaries.
//
// 8 bit: one byte an element and moment, a float32 absmax for each 256 of them; parameters below 4096 elements and the
// 32-bit forms keep float32 moments. Two code tables of 256 float32 are shared by all. Paged moments of at least 1e5
// elements lie in managed memory, outside the allocator; their absmax does not. LAMB and LARS keep a norm a parameter.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

constexpr int64_t kSmallest8Bit = 4096;    // min_8bit_size
constexpr int64_t kSmallestPaged = 100000;
constexpr int64_t kBlock = 256;

struct Kind {
  int moments = 2;       // state tensors; AdEMAMix's first one holds two
  bool eight = false, paged = false, norm = false, mixed = false;
};

void MakeState(OptimizerStep& s, OptimizedParam& p, const Kind& kind) {
  const Value& v = p.leaf->value;
  const int64_t n = v.elements();
  const bool eight = kind.eight && n >= kSmallest8Bit;
  const bool paged = kind.paged && n >= kSmallestPaged;
  const DType type = eight ? DType::kUInt8 : DType::kFloat32;
  for (int i = 0; i < kind.moments && !paged; ++i) {
    if (kind.mixed && i == 0) {
      p.state.push_back(s.StateOf(Dims{2, n}, type));
    } else {
      p.state.push_back(s.State(p, type));
    }
  }
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  for (int i = 0; i < kind.moments && eight; ++i) {
    p.state.push_back(s.StateOf(Dims{kind.mixed && i == 0 ? 2 * blocks : blocks}, DType::kFloat32));
  }
  if (kind.norm) p.state.push_back(s.StateOf(Dims{1}, DType::kFloat32));
}

// The tables ("dynamic", "udynamic") go to the device with the first 8-bit state, and serve all parameters.
void MakeTables(OptimizerStep& s, OptimizedParam& p, int moments) {
  if (s.shared != nullptr && !s.shared->empty()) return;
  for (int i = 0; i < moments; ++i) {
    const Value table = s.StateOf(Dims{256}, DType::kFloat32);
    if (s.shared != nullptr) {
      s.shared->push_back(table);
    } else {
      p.state.push_back(table);
    }
  }
}

template <int moments, bool eight, bool paged, bool norm, bool mixed>
void Step(OptimizerStep& s) {
  s.rt.recorder().op = "optimizer_update";
  const Kind kind{moments, eight, paged, norm, mixed};
  for (OptimizedParam* p : s.params) {
    if (p->stepped) continue;
    if (eight && p->leaf->value.elements() >= kSmallest8Bit) MakeTables(s, *p, moments);
    MakeState(s, *p, kind);
    p->stepped = true;
  }
}

template <int moments, bool norm, bool mixed>
void AddFour(OptimizerRegistry& registry, const char* const (&names)[4], const char* eight, const char* full) {
  constexpr auto Of = [](auto step, const char* name, const char* state) {
    OptimizerEntry e;
    e.name = name;
    e.step = step;
    e.state_doc = state;
    e.temporary_doc = "0: one kernel a parameter, in place";
    return e;
  };
  registry.Add(Of(Step<moments, true, false, norm, mixed>, names[0], eight));
  registry.Add(Of(Step<moments, false, false, norm, mixed>, names[1], full));
  if (names[2] != nullptr) registry.Add(Of(Step<moments, true, true, norm, mixed>, names[2], "absmax only; moments in managed memory"));
  if (names[3] != nullptr) registry.Add(Of(Step<moments, false, true, norm, mixed>, names[3], "0; moments in managed memory"));
}

}  // namespace

void RegisterBitsandbytes(OptimizerRegistry& r) {
  const char* two = "2 bytes an element, 8 bytes for each 256; below 4096 elements 8 bytes an element";
  const char* one = "1 byte an element, 4 bytes for each 256; below 4096 elements 4 bytes an element";
  const char* two_full = "8 bytes an element";
  const char* one_full = "4 bytes an element";
  AddFour<2, false, false>(r, {"bnb-adam8bit", "bnb-adam32bit", "bnb-paged-adam8bit", "bnb-paged-adam32bit"}, two, two_full);
  AddFour<2, false, false>(r, {"bnb-adamw8bit", "bnb-adamw32bit", "bnb-paged-adamw8bit", "bnb-paged-adamw32bit"}, two, two_full);
  AddFour<1, false, false>(r, {"bnb-lion8bit", "bnb-lion32bit", "bnb-paged-lion8bit", "bnb-paged-lion32bit"}, one, one_full);
  AddFour<1, false, false>(r, {"bnb-sgd8bit", "bnb-sgd32bit", nullptr, nullptr}, one, one_full);
  AddFour<1, false, false>(r, {"bnb-rmsprop8bit", "bnb-rmsprop32bit", nullptr, nullptr}, one, one_full);
  AddFour<1, false, false>(r, {"bnb-adagrad8bit", "bnb-adagrad32bit", nullptr, nullptr}, one, one_full);
  AddFour<2, true, false>(r, {"bnb-lamb8bit", "bnb-lamb32bit", nullptr, nullptr}, two, two_full);
  AddFour<1, true, false>(r, {"bnb-lars8bit", "bnb-lars32bit", nullptr, nullptr}, one, one_full);
  AddFour<2, false, true>(r, {"bnb-ademamix8bit", "bnb-ademamix32bit", "bnb-paged-ademamix8bit", "bnb-paged-ademamix32bit"},
                          "3 bytes an element, 12 bytes for each 256", "12 bytes an element");
}

}  // namespace memcrest
