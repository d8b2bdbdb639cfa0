// The largest size of one dimension that fits: the one search for it in the program.
//
// Takes: what a size gives (simulated; or any function, in tests).  Gives: the largest size that fits, every size that was tried,
// what one more costs and what breaks next.
//
//   size   1  2  4  8  16 32     gallop until one does not fit
//          f  f  f  f  f  x
//                      16 .. 24 .. 20 .. 22 23    bisect between the last that fits and the first that does not
//                                      f  x
//
// Fragmentation can make a size fail although a larger one runs. So the sizes above the edge are tried downwards from the first
// that no allocator could serve; at most kAboveEdge of them. Exact where live memory grows with the size.
// Cost: O(log answer) simulations, and the few above the edge.
#ifndef MEMCREST_PLAN_FIT_H_
#define MEMCREST_PLAN_FIT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/plan/outcome.h"

namespace memcrest {

inline constexpr int64_t kAboveEdge = 32;

struct FitOptions {
  int64_t multiple = 1;              // only multiples of it are tried
  int64_t most = int64_t{1} << 20;   // larger sizes are not tried
};

struct FitProbe {
  int64_t size = 0;
  Outcome outcome;
  std::string refused;  // why the network or the job refuses the size; "": simulated
  bool fits() const { return refused.empty() && outcome.fits; }
};

struct Fit {
  int64_t size = 0;             // the largest that fits; 0: not even the smallest does
  std::vector<FitProbe> tried;  // by size
  Bytes per_unit = 0;           // live bytes that one more costs, as measured between two of the sizes that fit
  bool bounded = true;          // false: options.most fits, larger sizes were not tried

  const FitProbe* Find(int64_t size) const;  // nullptr: not tried
  const FitProbe* Next() const;              // the smallest tried above `size`; nullptr: none
};

using SizeOutcome = std::function<absl::StatusOr<Outcome>(int64_t size)>;

// Errors: what `outcome_of` says of the smallest size. A larger size that it refuses counts as one that does not fit.
absl::StatusOr<Fit> LargestThatFits(const SizeOutcome& outcome_of, const FitOptions& options);

// The same for a symbol of a network: "batch", "seq".
absl::StatusOr<Fit> LargestThatFits(const std::string& model_path, const Job& job, const std::string& symbol, double headroom,
                                    const FitOptions& options);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_FIT_H_
