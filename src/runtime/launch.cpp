#include "runtime/launch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/output.h"
#include "runtime/child_processes.h"

namespace synthesizer {
namespace {

constexpr auto kGrace = std::chrono::seconds(5);  // for the others to notice, and to say what they saw
constexpr const char* kErrorMark = "synth: error: ";

[[noreturn]] void cannot(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file descriptor that is closed with it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

/// A port that nobody else can take until the store listens at it.
LaunchedProcess open_listener() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (socket < 0 || ::bind(socket, any, length) != 0 || ::listen(socket, SOMAXCONN) != 0 ||
      ::getsockname(socket, any, &length) != 0) {
    cannot("cannot listen on 127.0.0.1");
  }
  return {0, 1, socket, ntohs(address.sin_port)};
}

/// The last error in a file of what a process wrote to standard error, without the mark before it.
std::string error_in(const Descriptor& errors) {
  std::string text(static_cast<size_t>(std::max<off_t>(0, ::lseek(errors.number(), 0, SEEK_END))), '\0');
  const ssize_t size = ::pread(errors.number(), text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, size)));
  const size_t begin = text.rfind(kErrorMark);
  if (begin == text.npos) return "";
  return text.substr(begin + std::strlen(kErrorMark),
                     text.find('\n', begin) - begin - std::strlen(kErrorMark));
}

/// In a process whose rank is not 0: nobody reads what it prints.
void redirect_output(const Descriptor& errors) {
  const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere.number() < 0 || ::dup2(nowhere.number(), STDOUT_FILENO) < 0) cannot("cannot open /dev/null");
  if (::dup2(errors.number(), STDERR_FILENO) < 0) cannot("cannot redirect standard error");
}

/// Returns the first that failed, when all have ended.
std::optional<size_t> wait_for_all(ChildProcesses& children) {
  std::optional<size_t> first;
  std::optional<ChildProcesses::Clock::time_point> end;  // of the others' time
  for (size_t left = children.count(); left > 0;) {
    if (const auto child = children.wait(end)) {
      --left;
      if (first || !children.outcome(*child)->failed()) continue;
      first = child;
      end = ChildProcesses::Clock::now() + kGrace;
    } else {
      children.kill_running();
      end.reset();
    }
  }
  return first;
}

/// What to print for the process that failed first; `said`: its last error.
std::string failure_of(size_t rank, const ChildOutcome& ended, const std::string& said) {
  if (ended.killed_by != 0) {
    return fmt::format(
        "rank {} was killed by signal {}; the last checkpoint is intact: start the same command again, with "
        "--resume where there is a checkpoint",
        rank, ended.killed_by);
  }
  return said.empty() ? fmt::format("rank {} ended with status {}", rank, ended.exit_status) : said;
}

}  // namespace

int launch(int64_t count, const std::function<int(const LaunchedProcess&)>& work) {
  LaunchedProcess place = open_listener();
  Descriptor listener(place.listener);
  place.size = count;
  std::vector<Descriptor> errors;  // what each writes to standard error; rank 0 has none
  ChildProcesses children;
  for (place.rank = 0; place.rank < count; ++place.rank) {
    errors.emplace_back(place.rank > 0 ? ::memfd_create("errors", MFD_CLOEXEC) : -1);
    children.start([&] {
      if (place.rank > 0) redirect_output(errors.back());
      if (place.rank > 0) listener.close();
      place.listener = listener.release();  // the store's from now on
      return work(place);
    });
  }
  listener.close();
  const auto first = wait_for_all(children);
  if (!first) return 0;
  int status = 1;
  // Who saw a mistake may have ended before who made it.
  for (size_t rank = 0; rank < children.count(); ++rank)
    status = std::max(status, children.outcome(rank)->exit_status);
  if (children.outcome(0)->exit_status != 0) return status;  // rank 0 has said why
  const std::string said = *first > 0 ? error_in(errors[*first]) : "";
  write_error(kErrorMark + failure_of(*first, *children.outcome(*first), said) + "\n");
  return status;
}

}  // namespace synthesizer
