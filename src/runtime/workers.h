#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace synthesizer {

/// From now on for_each_piece() uses so many groups of threads, which divide the threads of the program among
/// themselves. 1, the default, uses the calling thread. Throws InvalidInput below 1 or over kMaxThreads.
void use_workers(int64_t count);
int64_t workers();

/// Calls work(n) once for every n below `pieces`, in any order and from several groups at a time. What the
/// first one throws is thrown here, after those that have begun are done; the rest are left out.
void for_each_piece(size_t pieces, const std::function<void(size_t)>& work);

}  // namespace synthesizer
