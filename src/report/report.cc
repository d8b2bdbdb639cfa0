#include "src/report/report.h"

namespace memcrest {

bool Report::fits() const {
  for (const DeviceReport& device : devices) {
    if (!device.fits) return false;
  }
  return true;
}

}  // namespace memcrest
