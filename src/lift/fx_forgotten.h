// Constants that the exporter computed from parameters: the operators that computed them, on the parameters, as eager
// runs them.
//
// Takes: a folded constant, the name the tracer gave it, and where it is read.  Gives: the tensor that the restored
// operators make. Which parameter it was follows from what no FX node names: nearest to the parameters last read, in
// the module that reads the constant. A table with a forgotten index beside it is a window attention's relative
// position bias.
#ifndef MEMCREST_LIFT_FX_FORGOTTEN_H_
#define MEMCREST_LIFT_FX_FORGOTTEN_H_

#include "absl/strings/string_view.h"
#include "src/lift/fx_state.h"

namespace memcrest {

class ForgottenParams {
 public:
  explicit ForgottenParams(FxState& state) : state_(state) {}

  // `op`: canonical operator of `name`, "" if none. kNone: the constant comes from no parameter.
  TensorId Restore(absl::string_view name, absl::string_view op, onnx::ValueId v, int fx_index, const Scopes& scopes);

 private:
  struct Wanted {
    absl::string_view name, op;
    onnx::ValueId v;
    int fx_index;
    const Scopes& scopes;
    const onnx::Literal& literal;
  };
  ParamId Pick(const Wanted& wanted, const Scopes& around) const;
  TensorId Joined(const Wanted& wanted, ParamId first);
  TensorId Transposed(const Wanted& wanted, ParamId param);
  TensorId RelativeBias(const Wanted& wanted, ParamId table, ParamId index);
  TensorId Take(ParamId id, const Dims& dims, DType dtype);
  TensorId Emit(const Wanted& wanted, absl::string_view op, Attrs attrs, std::vector<TensorId> in, bool last);

  FxState& state_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_FORGOTTEN_H_
