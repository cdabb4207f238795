//===- processes.h - Child processes and signals ----------------*- C++ -*-===//

#ifndef INCC_FRONT_PROCESSES_H
#define INCC_FRONT_PROCESSES_H

#include "text.h"

#include <csignal>
#include <sys/types.h>

namespace incc {

/// Runs one child at a time and forwards to it the signals that stop a process. While an object of
/// this class exists, only the object receives them.
class Processes {
public:
  Processes();

  /// A variable for a child's environment. An empty value removes the variable.
  struct Setting {
    std::string Name, Value;
  };

  /// Starts a program. `Input`, `Errors` and `Output` name files for its standard streams; "" means
  /// ours. Python (`IsPython`) starts with SIGINT blocked until it is ready for it. The child is
  /// terminated if this process is killed. Returns false if the program cannot be started (errno).
  bool start(const std::string &Path, const Words &Argv, const std::vector<Setting> &Settings = {},
             const std::string &Input = "", const std::string &Errors = "",
             const std::string &Output = "", bool IsPython = false);

  /// The process that wait() waits for. adopt() replaces it by a process that others started and
  /// that was left to this process when they ended (prctl(2), PR_SET_CHILD_SUBREAPER).
  pid_t child() const { return Child; }
  void adopt(pid_t Process) { Child = Process; }

  /// Waits for the child. Returns its status in waitpid(2)'s form.
  int wait();

  /// Waits until a file can be read or a signal asks us to stop. Returns 0 after `Milliseconds`.
  int waitFor(int File, int Milliseconds);

  /// Restores the signal mask and handlers from before this object was created.
  void release();

  /// The signal that asked this process to stop, 0 if none did.
  int interrupted() const { return Interrupted; }

  /// Ends this process in the way its child ended: with its exit status, or by its signal.
  [[noreturn]] static void endAs(int Status);
  [[noreturn]] static void dieBy(int Signal);

private:
  pid_t Child = 0;
  int Interrupted = 0;
  sigset_t Before, Watched;
  struct sigaction ChildBefore;
};

/// Opens a pipe, closed on exec, whose ends are not standard streams: if a standard stream is
/// closed, the next open file would get its number. Returns false if that fails (errno).
bool openPipe(int (&Pipe)[2]);

/// Returns the array that execv expects. It points into `Argv`.
std::vector<char *> pointers(const Words &Argv);

} // namespace incc

#endif
