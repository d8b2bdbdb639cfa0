// The modules a plan may checkpoint, with what each one changes in a step.
//
// Takes: an evaluator.  Gives: candidates and the step without checkpointing, from one simulation a level of the module tree: modules
// that do not contain each other are measured together, their effects separated by where they stand in the step. Effects of
// several candidates add up (a model: a plan found with it is simulated before it is believed).
#ifndef MEMCREST_PLAN_CANDIDATES_H_
#define MEMCREST_PLAN_CANDIDATES_H_

#include <string>
#include <vector>

#include "src/plan/evaluate.h"

namespace memcrest {

struct Candidate {
  ModuleId module = kNone;
  std::string path;
  int parent = kNone;            // the nearest candidate that contains it
  NodeId begin = 0;              // first node of its first call
  double cost = 0;               // seconds to recompute it once
  std::vector<Bytes> change;     // by segment: of the peak when it alone is checkpointed
};

struct CandidateSet {
  std::vector<Candidate> items;  // parents before children
  std::vector<Bytes> base;       // by segment: peak without checkpointing
  StepSeconds seconds;           // without checkpointing
};

CandidateSet FindCandidates(const PlanEvaluator& evaluator);
// By CallId: the calls of the chosen candidates.
std::vector<bool> RegionsOf(const Network& network, const CandidateSet& set, const std::vector<bool>& chosen);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_CANDIDATES_H_
