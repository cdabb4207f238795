//===- processes.cpp - Child processes and signals ------------------------===//
//
// Signals are received synchronously, because that is the only way to learn who
// sent them. A signal from the terminal has reached the child as well, and a
// second one might keep a compiler from removing half-written files.
//
//===----------------------------------------------------------------------===//

#include "processes.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>

using namespace incc;

extern char **environ;

namespace {

constexpr int StopSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

} // namespace

bool incc::openPipe(int (&Pipe)[2]) {
  int Opened[2];
  if (pipe2(Opened, O_CLOEXEC) != 0)
    return false;
  for (int End : {0, 1})
    Pipe[End] = fcntl(Opened[End], F_DUPFD_CLOEXEC, 3);
  close(Opened[0]);
  close(Opened[1]);
  if (Pipe[0] >= 0 && Pipe[1] >= 0)
    return true;
  close(Pipe[0]);
  close(Pipe[1]);
  return false;
}

std::vector<char *> incc::pointers(const Words &Argv) {
  std::vector<char *> Result;
  for (const std::string &Word : Argv)
    Result.push_back(const_cast<char *>(Word.c_str()));
  Result.push_back(nullptr);
  return Result;
}

Processes::Processes() {
  sigemptyset(&Watched);
  sigaddset(&Watched, SIGCHLD);
  for (int Signal : StopSignals) {
    // Signals that were ignored when we were started (nohup) stay ignored, here and in children.
    struct sigaction Action;
    if (sigaction(Signal, nullptr, &Action) == 0 && Action.sa_handler != SIG_IGN)
      sigaddset(&Watched, Signal);
  }
  sigprocmask(SIG_BLOCK, &Watched, &Before);
  // make and shells may ignore SIGCHLD; then waitpid would find no child.
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &Default, &ChildBefore);
}

bool Processes::start(const std::string &Path, const Words &Argv,
                      const std::vector<Setting> &Settings, const std::string &Input,
                      const std::string &Errors, const std::string &Output, bool IsPython) {
  std::vector<char *> Arguments = pointers(Argv);
  std::vector<std::string> Set;
  std::vector<char *> Environment;
  for (char **Entry = environ; *Entry; ++Entry) {
    bool Changed = false;
    for (const Setting &S : Settings)
      Changed |=
          strncmp(*Entry, S.Name.c_str(), S.Name.size()) == 0 && (*Entry)[S.Name.size()] == '=';
    if (!Changed)
      Environment.push_back(*Entry);
  }
  for (const Setting &S : Settings)
    if (!S.Value.empty())
      Set.push_back(S.Name + "=" + S.Value);
  for (std::string &Entry : Set)
    Environment.push_back(Entry.data());
  Environment.push_back(nullptr);
  sigset_t Interrupts;
  sigemptyset(&Interrupts);
  sigaddset(&Interrupts, SIGINT);
  // vfork: the child shares our memory until execve.
  volatile int Error = 0;
  pid_t Process = vfork();
  if (Process == 0) {
    // If this process is killed, nobody else would stop the child.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigaction(SIGCHLD, &ChildBefore, nullptr);
    sigprocmask(SIG_SETMASK, &Before, nullptr);
    if (IsPython)
      sigprocmask(SIG_BLOCK, &Interrupts, nullptr);
    for (auto [File, Descriptor, Flags] :
         {std::tuple(&Input, 0, O_RDONLY), std::tuple(&Errors, 2, O_WRONLY | O_CREAT | O_TRUNC),
          std::tuple(&Output, 1, O_WRONLY | O_CREAT | O_TRUNC)}) {
      if (File->empty())
        continue;
      int Opened = open(File->c_str(), Flags, 0600);
      if (Opened >= 0 && Opened != Descriptor) {
        dup2(Opened, Descriptor);
        close(Opened);
      }
    }
    execve(Path.c_str(), Arguments.data(), Environment.data());
    Error = errno;
    _exit(127);
  }
  if (Process < 0)
    return false;
  if (Error != 0) {
    int Status;
    waitpid(Process, &Status, 0);
    errno = Error;
    return false;
  }
  Child = Process;
  return true;
}

int Processes::wait() {
  int Status = 0;
  while (true) {
    pid_t Reaped = waitpid(Child, &Status, WNOHANG);
    if (Reaped == Child || (Reaped < 0 && errno != EINTR))
      break;
    siginfo_t Info;
    int Signal = sigwaitinfo(&Watched, &Info);
    if (Signal < 0 || Signal == SIGCHLD)
      continue;
    Interrupted = Signal;
    // si_code > 0: the kernel sent the signal because of a key, so the child received it, too.
    if (Info.si_code <= 0)
      kill(Child, Signal);
  }
  Child = 0;
  return Status;
}

int Processes::waitFor(int File, int Milliseconds) {
  int Signals = signalfd(-1, &Watched, SFD_CLOEXEC | SFD_NONBLOCK);
  pollfd Files[] = {{File, POLLIN, 0}, {Signals, POLLIN, 0}};
  int Ready;
  while ((Ready = poll(Files, 2, Milliseconds)) > 0 || (Ready < 0 && errno == EINTR)) {
    signalfd_siginfo Info;
    while (read(Signals, &Info, sizeof Info) == sizeof Info)
      if (Info.ssi_signo != SIGCHLD)
        Interrupted = static_cast<int>(Info.ssi_signo);
    if (Interrupted || (Ready > 0 && Files[0].revents))
      break;
  }
  close(Signals);
  return Ready;
}

void Processes::release() {
  sigaction(SIGCHLD, &ChildBefore, nullptr);
  sigprocmask(SIG_SETMASK, &Before, nullptr);
}

void Processes::endAs(int Status) {
  if (WIFSIGNALED(Status))
    dieBy(WTERMSIG(Status));
  exit(WEXITSTATUS(Status));
}

void Processes::dieBy(int Signal) {
  // The compiler has written its core file, if any. A second one, ours, would be confusing.
  rlimit Limit;
  if (getrlimit(RLIMIT_CORE, &Limit) == 0) {
    Limit.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &Limit);
  }
  signal(Signal, SIG_DFL);
  sigset_t Set;
  sigemptyset(&Set);
  sigaddset(&Set, Signal);
  sigprocmask(SIG_UNBLOCK, &Set, nullptr);
  kill(getpid(), Signal);
  _exit(128 + Signal);
}
