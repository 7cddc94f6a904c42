#include "task/shared_work.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <stdexcept>

#include "runtime/workers.h"

namespace synthesizer {

void share_pieces(ProcessGroup* group, size_t pieces, const std::function<void(size_t)>& work,
                  const std::function<std::string(size_t)>& pack,
                  const std::function<void(size_t, const std::string&)>& unpack) {
  const auto rank = static_cast<size_t>(rank_of(group)), stride = static_cast<size_t>(size_of(group));
  const size_t own = pieces > rank ? (pieces - rank + stride - 1) / stride : 0;
  for_each_piece(own, [&](size_t n) {
    c10::NoGradGuard no_grad;
    work(rank + n * stride);
  });
  if (!group) return;
  Packer packer;
  for (size_t n = rank; n < pieces; n += stride) packer.add(pack(n));
  const auto all = group->gather(std::move(packer).bytes());
  for (size_t other = 0; other < all.size(); ++other) {
    Unpacker results(all[other]);
    bool complete = true;
    try {
      for (size_t n = other; n < pieces; n += stride) {
        const auto bytes = results.next<std::string>();
        if (other != rank) unpack(n, bytes);
      }
      complete = results.done();
    } catch (const std::out_of_range&) {
      complete = false;
    }
    if (!complete) {
      throw std::runtime_error(fmt::format(
          "rank {} has sent results of other work than that of rank {}: start all processes with the "
          "same run, data and options",
          other, rank));
    }
  }
}

}  // namespace synthesizer
