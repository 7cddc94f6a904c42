#pragma once

#include <string>

#include "text/store_index.h"
#include "text/store_options.h"

namespace synthesizer {

/// Tokenizes the files into a folder that exists; the result is the same for any number of threads. The index
/// is returned, not written: the caller puts it in place when all is well. Throws InvalidInput where the
/// files hold no examples or nothing but empty ones.
StoreIndex make_store(const StoreOptions& options, const std::string& folder);

}  // namespace synthesizer
