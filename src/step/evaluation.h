// The network run beside training, in evaluation mode and without gradients: a validation pass, or a distillation teacher.
//
// Takes: a program made in Mode::kEvaluation, with sizes of its own, the runtime of the training session.  Gives: the first output.
// A validation pass shares the trained parameters and has inputs of its own; a teacher has parameters of its own and shares the
// inputs. What is its own lives from construction to the end.
#ifndef MEMCREST_STEP_EVALUATION_H_
#define MEMCREST_STEP_EVALUATION_H_

#include <vector>

#include "src/eager/eager.h"
#include "src/job/job.h"
#include "src/step/forward.h"
#include "src/step/program.h"

namespace memcrest {

// What a tensor of the export is stored in under a job: floating tensors follow the job's precision.
DType StoredType(DType exported, Precision precision);

// The job's evaluation mode is a matter of the program: MakeProgram(..., Mode::kEvaluation) of src/step/program.h.
class Evaluation {
 public:
  enum class Own { kInputs, kParameters };
  // `training`: by TensorId, what the training run reads. All references must outlive this.
  Evaluation(Eager& rt, const Program& program, const Job& job, const std::vector<Value>& training, Own own);
  Value Run();

 private:
  Eager& rt_;
  std::vector<Value> resident_;
  Forward forward_;
};

}  // namespace memcrest

#endif  // MEMCREST_STEP_EVALUATION_H_
