// Declares the field tables of a job and its messages (fields.h); defined in job_fields.cc and parallel_fields.cc.
#ifndef MEMCREST_JOB_JOB_FIELDS_H_
#define MEMCREST_JOB_JOB_FIELDS_H_

#include "src/job/fields.h"
#include "src/job/job.h"

namespace memcrest {

template <> absl::Span<const Field<Job>> FieldsOf<Job>();
template <> absl::Span<const Field<Checkpoint>> FieldsOf<Checkpoint>();
template <> absl::Span<const Field<SavePolicy>> FieldsOf<SavePolicy>();
template <> absl::Span<const Field<Lora>> FieldsOf<Lora>();
template <> absl::Span<const Field<Quantize>> FieldsOf<Quantize>();
template <> absl::Span<const Field<Offload>> FieldsOf<Offload>();
template <> absl::Span<const Field<ClipGrad>> FieldsOf<ClipGrad>();
template <> absl::Span<const Field<Ema>> FieldsOf<Ema>();
template <> absl::Span<const Field<Evaluate>> FieldsOf<Evaluate>();
template <> absl::Span<const Field<Parallel>> FieldsOf<Parallel>();
template <> absl::Span<const Field<ZeroOptimization>> FieldsOf<ZeroOptimization>();
template <> absl::Span<const Field<OffloadTo>> FieldsOf<OffloadTo>();

}  // namespace memcrest

#endif  // MEMCREST_JOB_JOB_FIELDS_H_
