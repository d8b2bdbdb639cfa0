// What a job says about lifting: --restore, --dropout, --tie, --untie.
#ifndef MEMCREST_PLAN_LIFT_OPTIONS_H_
#define MEMCREST_PLAN_LIFT_OPTIONS_H_

#include "src/job/job.h"
#include "src/lift/lift.h"

namespace memcrest {

LiftOptions LiftOptionsOf(const Job& job);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_LIFT_OPTIONS_H_
