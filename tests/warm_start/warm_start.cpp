// Preloaded into `synth`, this library starts the program once and forks a copy for every command that a test
// sends.
//
// A quarter of a second of processor time of each start of `synth` is spent before main(), where LibTorch
// registers its operators, and the tests start it thousands of times. A copy begins where that is done: it
// has the arguments, the environment, the folder and the standard files of its command, and calls the
// program's own main().
//
// A request is one message on the socket whose number is in WARM_START_SOCKET: texts, each ended by a NUL
// (the number of arguments, the arguments, the folder, the environment), and four descriptors: standard
// input, output and error, and a socket for the answers. These are the copy's process number, and its wait
// status when it has ended.

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

using Main = int (*)(int, char**, char**);

constexpr int kDescriptors = 4, kAnswer = 3;
Main program_main = nullptr;

struct Request {
  std::string texts;
  int descriptors[kDescriptors];
};

/// The next request, in `request`; false: the test program has closed its end.
bool receive(int socket, Request& request) {
  request.texts.resize(1 << 20);
  iovec part{request.texts.data(), request.texts.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof request.descriptors)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) return false;
  request.texts.resize(static_cast<size_t>(size));
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_len != CMSG_LEN(sizeof request.descriptors)) abort();
  memcpy(request.descriptors, CMSG_DATA(header), sizeof request.descriptors);
  return true;
}

/// In the copy: becomes the process that was asked for, and runs the program.
[[noreturn]] void run_command(Request& request) {
  std::vector<char*> words;
  for (char* at = request.texts.data(); at < request.texts.data() + request.texts.size();
       at += strlen(at) + 1) {
    words.push_back(at);
  }
  const int count = atoi(words.at(0));
  std::vector<char*> arguments(words.begin() + 1, words.begin() + 1 + count);
  arguments.push_back(nullptr);
  const char* folder = words.at(static_cast<size_t>(count) + 1);
  std::vector<char*> environment(words.begin() + count + 2, words.end());
  environment.push_back(nullptr);
  for (int n = 0; n < kAnswer; ++n) {
    if (dup2(request.descriptors[n], n) < 0) _exit(127);
  }
  if (chdir(folder) != 0) _exit(127);
  environ = environment.data();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  exit(program_main(count, arguments.data(), environ));
}

void answer(int socket, int number) {
  if (write(socket, &number, sizeof number) < 0) {  // the test has given up waiting
    return;
  }
}

int serve(int, char**, char**) {
  const int socket = atoi(getenv("WARM_START_SOCKET"));
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  // The end of a copy wakes poll up, and nothing else; copies have the signals of a program that was just
  // started.
  sigset_t before, child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  signal(SIGCHLD, [](int) {});
  signal(SIGPIPE, SIG_IGN);
  std::map<pid_t, int> waiting;  // copies that run, and where their end is told
  for (;;) {
    pollfd ready{socket, POLLIN, 0};
    const int events = ppoll(&ready, 1, nullptr, &before);
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      answer(waiting.at(ended), status);
      close(waiting.at(ended));
      waiting.erase(ended);
    }
    if (events <= 0) continue;
    Request request;
    if (!receive(socket, request)) return 0;
    const pid_t copy = fork();
    if (copy == 0) {
      signal(SIGCHLD, SIG_DFL);
      signal(SIGPIPE, SIG_DFL);
      sigprocmask(SIG_SETMASK, &before, nullptr);
      run_command(request);
    }
    for (int n = 0; n < kAnswer; ++n) close(request.descriptors[n]);
    answer(request.descriptors[kAnswer], copy);
    if (copy > 0) waiting[copy] = request.descriptors[kAnswer];
  }
}

}  // namespace

/// In place of the C library's, which calls main() when everything is constructed.
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*loader_fini)(), void* stack_end) {
  program_main = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(serve, argc, argv, init, fini, loader_fini, stack_end);
}
