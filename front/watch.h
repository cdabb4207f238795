//===- watch.h - Surviving a crash of the Python part -----------*- C++ -*-===//
//
// In the full mode Python runs the compiler. A system limit or a bug in a
// library may end Python at any time, and must not end the compilation with it.
// Python is therefore a child of this program, and reports the compiler's
// progress to it through a pipe. driver/builds/watched.py is Python's side.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_WATCH_H
#define INCC_FRONT_WATCH_H

#include "python.h"

#include <string>

namespace incc {

/// The variable that holds the file descriptor of the pipe's end for writing.
constexpr const char *WatchVariable = "INCC_WATCH";

/// Runs Python and ends this process as Python ended or, if Python did not end on purpose, as the
/// compiler ended. Returns only if no compiler was started, with the reason.
std::string runWatched(const Python &Python, const Words &Argv, bool Strict);

/// Writes a warning of the full mode to the file that INCC_LOG names, else to standard error.
void warn(const std::string &What);

/// Leaves the watch, for a process that replaces Python: it ends on purpose, and its children do
/// not inherit the pipe.
void leaveWatch();

} // namespace incc

#endif
