#include "train/c10d_group.h"

#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/output.h"
#include "train/peer_watch.h"

namespace synthesizer {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> note_keys(int64_t size) {
  std::vector<std::string> keys;
  for (int64_t rank = 0; rank < size; ++rank) keys.push_back(note_key(rank));
  return keys;
}

PeerWatch::Board board_on(const StorePtr& store, const ProcessPlace& place) {
  PeerWatch::Board board;
  board.name = fmt::format("{}:{}", place.address, place.port);
  board.of_launcher = place.external_store;
  board.write = [store, key = note_key(place.rank)](const std::string& note) { store->set(key, note); };
  board.read = [store, keys = note_keys(place.size)] {
    std::vector<std::string> notes;
    for (const auto& bytes : store->multiGet(keys)) notes.emplace_back(bytes.begin(), bytes.end());
    return notes;
  };
  return board;
}

using DevicePtr = std::shared_ptr<::gloo::transport::Device>;

DevicePtr device_of_interface(const char* interface) {
  try {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  } catch (const std::exception&) {
    invalid(
        fmt::format("GLOO_SOCKET_IFNAME is '{}', which is not a network interface of this machine with an "
                    "address: give one that is (`ip address` lists them), or unset it",
                    interface));
  }
}

/// Addresses of one machine are loopback; others as Gloo finds them, or as PyTorch's variable says.
DevicePtr device_for(const ProcessPlace& place) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface && *interface)
    return device_of_interface(interface);
  const std::string& address = place.address;
  if (address == "localhost" || address == "::1" || address.starts_with("127.") ||
      place.local_size == place.size)
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

class C10dGroup : public ProcessGroup {
 public:
  C10dGroup(const ProcessPlace& place, StorePtr store) : ProcessGroup(place), store_(std::move(store)) {
    watch_ = std::make_unique<PeerWatch>(rank(), size(), PeerWatch::Seconds(place.timeout),
                                         board_on(store_->clone(), place), end_program);
  }

  /// Opens the connections. What it throws is to be told to the others (fail).
  void connect() {
    // PeerWatch finds out who is lost; a slow process is not, so Gloo itself waits as long as it takes.
    auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::hours(24 * 30));
    options->devices.push_back(device_for(place()));
    exchange([&] {
      const auto ranks = static_cast<int>(size()), own = static_cast<int>(rank());
      auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>("gloo", store_), own, ranks, options);
      group_ = c10::make_intrusive<c10d::ProcessGroup>(store_, own, ranks);
      group_->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
      group_->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
    });
  }

  void all_reduce_sum(const std::vector<at::Tensor>& tensors) override {
    exchange([&] {
      for (const at::Tensor& tensor : tensors) {
        std::vector<at::Tensor> one = {tensor};
        group_->allreduce(one)->wait();
      }
    });
  }

  using ProcessGroup::broadcast;
  void broadcast(const std::vector<at::Tensor>& tensors, const std::vector<int64_t>& from) override {
    exchange([&] {
      // All are on their way before the first is waited for.
      std::vector<at::Tensor> dense;
      std::vector<c10::intrusive_ptr<c10d::Work>> under_way;
      for (size_t i = 0; i < tensors.size(); ++i) {
        dense.push_back(tensors[i].detach().contiguous());
        c10d::BroadcastOptions options;
        options.rootRank = from[i];
        std::vector<at::Tensor> one = {dense.back()};
        under_way.push_back(group_->broadcast(one, options));
      }
      for (size_t i = 0; i < tensors.size(); ++i) {
        under_way[i]->wait();
        if (!tensors[i].is_contiguous()) tensors[i].detach().copy_(dense[i]);
      }
    });
  }

  void transfer(const at::Tensor& tensor, int64_t from, int64_t to) override {
    if (from == to || (rank() != from && rank() != to)) return;
    exchange([&] {
      auto dense = tensor.detach().contiguous();
      std::vector<at::Tensor> one = {dense};
      constexpr int kTag = 0;
      const auto peer = static_cast<int>(rank() == from ? to : from);
      (rank() == from ? group_->send(one, peer, kTag) : group_->recv(one, peer, kTag))->wait();
      if (rank() == to && !tensor.is_contiguous()) tensor.detach().copy_(dense);
    });
  }

  std::string broadcast(const std::string& bytes) override {
    auto length = at::scalar_tensor(static_cast<int64_t>(bytes.size()), at::kLong);
    broadcast(std::vector<at::Tensor>{length});
    std::string result = first() ? bytes : std::string(static_cast<size_t>(length.item<int64_t>()), '\0');
    if (!result.empty()) broadcast(std::vector<at::Tensor>{over(result)});
    return result;
  }

  std::vector<std::string> gather(const std::string& bytes) override {
    const auto own = at::scalar_tensor(static_cast<int64_t>(bytes.size()), at::kLong).view({1});
    const auto lengths = gather_tensor(own);
    int64_t longest = 0;
    for (const auto& length : lengths) longest = std::max(longest, length.item<int64_t>());
    std::vector<std::string> all(static_cast<size_t>(size()));
    if (longest == 0) return all;
    std::string padded = bytes;
    padded.resize(static_cast<size_t>(longest));
    const auto rows = gather_tensor(over(padded));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].assign(reinterpret_cast<const char*>(rows[i].const_data_ptr<uint8_t>()),
                    static_cast<size_t>(lengths[i].item<int64_t>()));
    }
    return all;
  }

  void barrier() override {
    exchange([&] { group_->barrier()->wait(); });
  }

  std::unique_ptr<GradientSum> sum_gradients(const std::vector<at::Tensor>& parameters) override {
    return make_reducer(group_, parameters, [this](const auto& work) { exchange(work); });
  }

  void fail(const std::exception& why) override {
    watch_->end(first_line(why.what()), dynamic_cast<const PeerLost*>(&why) != nullptr);
  }

  void close() override {
    barrier();
    watch_.reset();
    // The store ends with rank 0: it goes last.
    constexpr auto kEnough = std::chrono::seconds(5);
    store_->add("closed", 1);
    const auto end = std::chrono::steady_clock::now() + kEnough;
    while (first() && store_->add("closed", 0) < size() && std::chrono::steady_clock::now() < end)
      ::usleep(1000);
  }

 private:
  void exchange(const std::function<void()>& work) {
    watch_->check();
    try {
      work();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& failure) {
      const std::string text = failure.what();
      if (text.find("can't allocate memory") != std::string::npos) throw;
      throw PeerLost(watch_->blame(first_line(text)));
    }
  }

  /// The bytes themselves as a tensor.
  static at::Tensor over(std::string& bytes) {
    return at::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, at::kByte);
  }

  std::vector<at::Tensor> gather_tensor(const at::Tensor& own) {
    std::vector<at::Tensor> inputs = {own};
    std::vector<std::vector<at::Tensor>> outputs(1);
    for (int64_t i = 0; i < size(); ++i) outputs[0].push_back(at::empty_like(own));
    exchange([&] { group_->allgather(outputs, inputs)->wait(); });
    return outputs[0];
  }

  StorePtr store_;
  std::unique_ptr<PeerWatch> watch_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

}  // namespace

[[noreturn]] void end_program(const std::string& message) {
  write_error(fmt::format("{}synth: error: {}\n", ::isatty(STDERR_FILENO) == 1 ? "\n" : "", message));
  ::_exit(1);
}

std::string note_key(int64_t rank) {
  return fmt::format("note/{}", rank);
}

std::unique_ptr<ProcessGroup> make_group(const ProcessPlace& place, StorePtr store) {
  auto group = std::make_unique<C10dGroup>(place, std::move(store));
  try {
    group->connect();
  } catch (const std::exception& failure) {
    group->fail(failure);
    throw;
  }
  return group;
}

}  // namespace synthesizer
