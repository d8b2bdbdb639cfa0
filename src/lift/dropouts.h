// Dropout that an export in evaluation mode lost.
//
// Such a file shows no trace of it. It comes back where the user names modules (--dropout PATTERN=P), and, unless the
// job says otherwise (--restore none), at the places known of a few families of networks, told by the names of their
// modules (dropout_sites.cc). A network that shows any dropout was exported in training mode: nothing is added by
// family.
#ifndef MEMCREST_LIFT_DROPOUTS_H_
#define MEMCREST_LIFT_DROPOUTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "src/graph/network.h"
#include "src/lift/lift.h"

namespace memcrest {

struct DropoutSite {
  enum class Where : uint8_t {
    kAfter,      // on the module's result
    kBefore,     // on the module's argument
    kAttention,  // inside the attention kernel that the module calls
  };
  const char* module;  // the last segments of its path; "*" is any one
  Where where;
  double p;
};
struct DropoutFamily {
  const char* name;
  std::vector<const char*> needs;  // the network has modules that end so, all of them
  std::vector<DropoutSite> sites;
};
const std::vector<DropoutFamily>& DropoutFamilies();

// The last segments of the dotted `path` match `suffix`: "a.b.c" ends with "b.c" and with "*.c".
bool PathEndsWith(absl::string_view path, absl::string_view suffix);

void RestoreDropouts(const LiftOptions& options, Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_DROPOUTS_H_
