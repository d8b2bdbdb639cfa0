// What `memcrest fit` prints.
//
// Takes: Fit and what was asked.  Gives: text (the first line answers) or JSON (docs/JSON.md), bytes exact.
#ifndef MEMCREST_PLAN_FIT_TEXT_H_
#define MEMCREST_PLAN_FIT_TEXT_H_

#include <string>

#include "src/plan/fit.h"

namespace memcrest {

struct FitHeading {
  std::string model_file, symbol, device;
  double headroom = 0;  // share of the capacity
};

std::string FitText(const FitHeading& heading, const Fit& fit);
std::string FitJson(const FitHeading& heading, const Fit& fit);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_FIT_TEXT_H_
