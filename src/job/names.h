// The spelling of every enum of a job: one table each, used to read, to print and to suggest.
//
// Takes: nothing.  Gives: NamesOf<E>(), in the order of the enum's values.
#ifndef MEMCREST_JOB_NAMES_H_
#define MEMCREST_JOB_NAMES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "src/job/job.h"

namespace memcrest {

template <class E>
absl::Span<const char* const> NamesOf();

template <> absl::Span<const char* const> NamesOf<Precision>();
template <> absl::Span<const char* const> NamesOf<OptimizerImpl>();
template <> absl::Span<const char* const> NamesOf<Loss>();
template <> absl::Span<const char* const> NamesOf<Outputs>();
template <> absl::Span<const char* const> NamesOf<ZeroGrad>();
template <> absl::Span<const char* const> NamesOf<Attention>();
template <> absl::Span<const char* const> NamesOf<AttentionMask>();
template <> absl::Span<const char* const> NamesOf<MemoryFormat>();
template <> absl::Span<const char* const> NamesOf<Allocator>();
template <> absl::Span<const char* const> NamesOf<Engine>();
template <> absl::Span<const char* const> NamesOf<Schedule>();

// As strings, for messages.
std::vector<std::string> Strings(absl::Span<const char* const> names);

}  // namespace memcrest

#endif  // MEMCREST_JOB_NAMES_H_
