//===- processes.h - Child processes and signals ----------------*- C++ -*-===//

#ifndef INCC_FRONT_PROCESSES_H
#define INCC_FRONT_PROCESSES_H

#include "text.h"

#include <csignal>
#include <sys/types.h>

namespace incc {

/// Runs one child at a time, and passes on to it the signals that stop a process. While an object
/// of this type lives, they come only here.
class Processes {
public:
  Processes();

  /// A variable of a child's environment, "" to take it away.
  struct Setting {
    std::string Name, Value;
  };

  /// Starts a program with our standard streams, or those named: files for standard input, error
  /// and output, "" for ours. Python gets no interrupt before it expects one. Whatever is started
  /// is terminated if we are killed. Returns false if it cannot be started (errno).
  bool start(const std::string &Path, const Words &Argv, const std::vector<Setting> &Settings = {},
             const std::string &Input = "", const std::string &Errors = "",
             const std::string &Output = "", bool IsPython = false);

  /// The child that is waited for next, and how to have it be one that others have started: they
  /// are gone, and this process takes children that are left over (prctl(2),
  /// PR_SET_CHILD_SUBREAPER).
  pid_t child() const { return Child; }
  void adopt(pid_t Process) { Child = Process; }

  /// Waits for the child; returns its status as waitpid(2) has it.
  int wait();

  /// Waits until a file can be read, or until a signal asks us to stop. Returns 0 if that takes
  /// more than so many milliseconds.
  int waitFor(int File, int Milliseconds);

  /// Gives signals back to whom they belonged to before.
  void release();

  /// The signal that asked us to stop, 0 if none did.
  int interrupted() const { return Interrupted; }

  /// Ends this process as its child was ended: with its exit status, or by its signal.
  [[noreturn]] static void endAs(int Status);
  [[noreturn]] static void dieBy(int Signal);

private:
  pid_t Child = 0;
  int Interrupted = 0;
  sigset_t Before, Watched;
  struct sigaction ChildBefore;
};

/// A pipe of which neither end is a standard stream: where one of these is closed, the next file
/// that is opened has its number. It is closed in what is started. Returns false if there is none
/// (errno).
bool openPipe(int (&Pipe)[2]);

/// The words of a command as execv wants them; they must live as long as that.
std::vector<char *> pointers(const Words &Argv);

} // namespace incc

#endif
