#include "train/sharded_optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace synthesizer {
namespace {

constexpr int64_t kCut = 64;           // parameters are cut at multiples of it
constexpr int64_t kSmall = 64 * 1024;  // numbers; smaller pieces travel together

at::Tensor piece_of(const at::Tensor& tensor, const ParameterPiece& piece) {
  const at::Tensor plain = tensor.detach();
  return piece.count == plain.numel() ? plain : plain.view({-1}).narrow(0, piece.begin, piece.count);
}

/// The same names and shapes, without memory.
ParameterGroups without_values(ParameterGroups all) {
  for (NamedTensor& one : all.tensors) one.tensor = at::empty_like(one.tensor.detach(), at::kMeta);
  return all;
}

class ShardedOptimizer : public Optimizer {
 public:
  ShardedOptimizer(const TrainOptions& options, ParameterGroups parameters, ProcessGroup& group)
      : Optimizer(std::move(parameters)), group_(group) {
    std::vector<int64_t> sizes;
    for (const NamedTensor& one : trained_.tensors) sizes.push_back(one.tensor.numel());
    pieces_ = share_out(sizes, group.size(), options.optimizer == OptimizerKind::adafactor);
    ParameterGroups own;
    own.groups = trained_.groups;
    for (const ParameterPiece& piece : pieces_) {
      if (piece.rank != group.rank()) continue;
      const NamedTensor& whole = trained_.tensors[piece.parameter];
      own.tensors.push_back({whole.name, piece_of(whole.tensor, piece)});
      own.group_of.push_back(trained_.group_of[piece.parameter]);
      own_pieces_.push_back(piece);
    }
    own_values_ = own.tensors;
    own_ = make_optimizer(options, std::move(own));
    state_ = make_optimizer(options, without_values(trained_))->state();
    for (size_t i = 0; i < trained_.tensors.size(); ++i) {
      while (parameter_of_.size() < state_.size() && belongs(state_[parameter_of_.size()].name, i))
        parameter_of_.push_back(i);
    }
    if (parameter_of_.size() != state_.size())
      throw std::logic_error("the optimizer's state is not in the order of its parameters");
  }

  bool divided() const override { return true; }

  void step(double learning_rate, int64_t step, double scale) override {
    for (size_t i = 0; i < own_pieces_.size(); ++i) {
      const at::Tensor& gradient = trained_.tensors[own_pieces_[i].parameter].tensor.grad();
      if (gradient.defined()) own_values_[i].tensor.mutable_grad() = piece_of(gradient, own_pieces_[i]);
    }
    own_->step(learning_rate, step, scale);
    for (NamedTensor& one : own_values_) one.tensor.mutable_grad().reset();
    send_updates();
  }

  at::Tensor fetch(size_t i) const override {
    at::Tensor whole;
    if (group_.first()) whole = at::empty_like(state_[i].tensor, at::kCPU);
    for (const ParameterPiece& piece : pieces_of(i)) {
      const bool own = piece.rank == group_.rank();
      if (!own && !group_.first()) continue;
      const at::Tensor place = group_.first() ? piece_of(whole, piece) : own_part(i);
      if (group_.first() && own) place.copy_(own_part(i));
      group_.transfer(place, piece.rank, 0);
    }
    return whole;
  }

  void put(size_t i, const at::Tensor& values) override {
    c10::NoGradGuard no_grad;
    for (const ParameterPiece& piece : pieces_of(i)) {
      const bool own = piece.rank == group_.rank();
      if (!own && !group_.first()) continue;
      const at::Tensor place = group_.first() ? piece_of(values, piece) : own_part(i);
      if (group_.first() && own) own_part(i).copy_(place);
      group_.transfer(place, 0, piece.rank);
    }
  }

 private:
  bool belongs(const std::string& name, size_t parameter) const {
    return name.substr(0, name.rfind('.')) == trained_.tensors[parameter].name;
  }

  /// Which process has what of an entry of the state, as pieces of that entry.
  std::vector<ParameterPiece> pieces_of(size_t entry) const {
    std::vector<ParameterPiece> found;
    for (const ParameterPiece& piece : pieces_) {
      if (piece.parameter == parameter_of_[entry]) found.push_back(piece);
    }
    if (found.size() == 1) found[0].count = state_[entry].tensor.numel();  // its shape may be another
    return found;
  }

  /// This process's part of an entry of the state.
  at::Tensor own_part(size_t entry) const {
    const std::string& name = state_[entry].name;
    const auto found = std::find_if(own_->state().begin(), own_->state().end(),
                                    [&](const NamedTensor& one) { return one.name == name; });
    return found->tensor;
  }

  /// Every process sends its pieces to all others; small ones together, as one tensor.
  void send_updates() const {
    c10::NoGradGuard no_grad;
    std::vector<at::Tensor> tensors;
    std::vector<int64_t> from;
    std::vector<std::vector<at::Tensor>> small(static_cast<size_t>(group_.size()));
    for (const ParameterPiece& piece : pieces_) {
      const at::Tensor values = piece_of(trained_.tensors[piece.parameter].tensor, piece);
      if (piece.count < kSmall) {
        small[static_cast<size_t>(piece.rank)].push_back(values.view({-1}));
      } else {
        tensors.push_back(values);
        from.push_back(piece.rank);
      }
    }
    std::vector<std::pair<size_t, at::Tensor>> together;
    for (size_t rank = 0; rank < small.size(); ++rank) {
      if (small[rank].empty()) continue;
      together.emplace_back(rank, at::cat(small[rank]));
      tensors.push_back(together.back().second);
      from.push_back(static_cast<int64_t>(rank));
    }
    group_.broadcast(tensors, from);
    for (const auto& [rank, values] : together) {
      if (static_cast<int64_t>(rank) == group_.rank()) continue;
      int64_t begin = 0;
      for (const at::Tensor& one : small[rank]) {
        one.copy_(values.narrow(0, begin, one.numel()));
        begin += one.numel();
      }
    }
  }

  ProcessGroup& group_;
  std::vector<ParameterPiece> pieces_, own_pieces_;
  NamedTensors own_values_;  ///< of own_pieces_; they share the memory of the parameters
  std::unique_ptr<Optimizer> own_;
  std::vector<size_t> parameter_of_;  ///< of each entry of the state
};

}  // namespace

std::vector<ParameterPiece> share_out(const std::vector<int64_t>& sizes, int64_t processes, bool whole) {
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  std::vector<ParameterPiece> pieces;
  int64_t before = 0;  // numbers of the parameters before this one
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t begin = 0;
    for (int64_t rank = 0; rank < processes; ++rank) {
      const int64_t share_end = total * (rank + 1) / processes - before;  // of this rank, in this parameter
      int64_t end = sizes[i];
      if (whole && share_end < (end + 1) / 2) end = 0;  // more than half of it belongs to others
      if (!whole && share_end < end) end = std::max(begin, share_end / kCut * kCut);
      if (end > begin) pieces.push_back({i, begin, end - begin, rank});
      begin = std::max(begin, end);
    }
    before += sizes[i];
  }
  return pieces;
}

std::unique_ptr<Optimizer> make_sharded_optimizer(const TrainOptions& options, ParameterGroups parameters,
                                                  ProcessGroup& group) {
  return std::make_unique<ShardedOptimizer>(options, std::move(parameters), group);
}

}  // namespace synthesizer
