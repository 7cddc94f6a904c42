#pragma once

namespace synthesizer {

const char* version();  ///< "0.1.0"
const char*
commit();  ///< the commit it was built from, with "+" where files had changed; "unknown" outside git

}  // namespace synthesizer
