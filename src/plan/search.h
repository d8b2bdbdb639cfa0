// The cheapest choice of candidates under a budget, in the additive model of candidates.h.
//
// Takes: CandidateSet, a budget of bytes.  Gives: choices, best first. No candidate inside another chosen one. Small sets are
// searched completely; larger ones by a greedy choice, then by leaving out and exchanging. Deterministic.
#ifndef MEMCREST_PLAN_SEARCH_H_
#define MEMCREST_PLAN_SEARCH_H_

#include <vector>

#include "src/plan/candidates.h"

namespace memcrest {

using Choice = std::vector<bool>;  // by candidate

double CostOf(const CandidateSet& set, const Choice& choice);
Bytes PeakOf(const CandidateSet& set, const Choice& choice);

// All choices without nested candidates, cheapest first; empty if there are more than `limit`.
std::vector<Choice> AllChoices(const CandidateSet& set, size_t limit);
// The cheapest choice found whose model peak is within the budget; where there is none, the one that comes closest.
Choice Cheapest(const CandidateSet& set, Bytes budget);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_SEARCH_H_
