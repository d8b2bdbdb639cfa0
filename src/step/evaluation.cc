#include "src/step/evaluation.h"

namespace memcrest {

// 16 bits and more: model.to(dtype) leaves eight-bit floats alone.
DType StoredType(DType exported, Precision precision) {
  return IsFloating(exported) && BitsOf(exported) >= 16 ? ParameterType(precision) : exported;
}

Evaluation::Evaluation(Eager& rt, const Program& program, const Job& job, const std::vector<Value>& training, Own own)
    : rt_(rt), resident_(training), forward_(rt, program, job, {}, resident_) {
  const Network& net = *program.network;
  std::vector<Value> params(net.params.size());  // a tied parameter is copied once
  for (size_t t = 0; t < net.tensors.size(); ++t) {
    const Tensor& tensor = net.tensors[t];
    if (own == Own::kInputs && tensor.role == Role::kInput) {
      const DType type = StoredType(program.dtypes[t], job.precision);
      resident_[t] = rt.MakeResident(program.sizes[t], type, Category::kInputs);
    }
    if (own != Own::kParameters || tensor.role != Role::kParam) continue;
    Value& copy = params[static_cast<size_t>(tensor.param)];
    if (!copy) copy = rt.MakeResident(training[t].sizes(), training[t].dtype(), Category::kBuffers);
    resident_[t] = copy;
  }
}

Value Evaluation::Run() {
  const bool grad = rt_.grad_enabled();
  rt_.set_grad_enabled(false);
  Value out = forward_.Run({.evaluation = true});
  rt_.set_grad_enabled(grad);
  return out;
}

}  // namespace memcrest
