// The same threads give the same bits, also of the gradients that are sums over the batch; other numbers of
// threads give the same numbers up to rounding.

#include <ATen/Parallel.h>

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

/// A number of threads for as long as it lives.
class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before_); }

 private:
  int before_;
};

const int kSummedKinds[] = {query_key | table, row_column | one_row_table, table, outer,
                            query_key | row_column | table | outer};

TEST(AttendDeterminism, the_same_threads_give_the_same_bits) {
  for (int threads : {1, 2, 3}) {
    const Threads guard(threads);
    for (int parts : kSummedKinds) {
      for (bool causal : {false, true}) {
        Inputs inputs = make_inputs(parts, {5, 1, 100, 100, 8});
        inputs.mask = {causal, lengths_of({100, 40, 99, 0, 7}),
                       causal ? at::Tensor() : lengths_of({100, 40, 99, 0, 7})};
        const Outcome first = run(inputs, {0.1, 8});
        for (int again = 0; again < 4; ++again)
          expect_same_bits(run(inputs, {0.1, 8}), first, parts_name(parts));
      }
    }
  }
}

TEST(AttendDeterminism, more_threads_than_heads_change_rounding_alone) {
  for (int parts : kSummedKinds) {
    const Inputs inputs = make_inputs(parts, {7, 1, 60, 60, 8});
    Outcome alone;
    {
      const Threads guard(1);
      alone = run(inputs);
    }
    for (int threads : {2, 3, 4, 16}) {
      const Threads guard(threads);
      expect_close(run(inputs), alone, 1e-5,
                   parts_name(parts) + " with " + std::to_string(threads) + " threads");
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
