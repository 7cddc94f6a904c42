#include "base/version.h"

namespace synthesizer {

const char* version() {
  return SYNTHESIZER_VERSION;
}
const char* commit() {
  return SYNTHESIZER_COMMIT;
}

}  // namespace synthesizer
