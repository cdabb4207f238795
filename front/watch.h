//===- watch.h - Outliving the part of incc that is Python ------*- C++ -*-===//
//
// In the full mode Python runs the compiler. What ends Python in the middle, a
// limit of the system or a mistake in a library, must not take the compilation
// with it: so it is a child of this program, and tells it through a pipe what
// became of the compiler. Python's side is driver/builds/watched.py.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_WATCH_H
#define INCC_FRONT_WATCH_H

#include "python.h"

#include <string>

namespace incc {

/// The variable that has the number of the pipe's end.
constexpr const char *WatchVariable = "INCC_WATCH";

/// Runs Python, and ends this process as it ends, or, where that was not on purpose, as the
/// compiler ends. Returns only where no compiler was started, with the reason.
std::string runWatched(const Python &Python, const Words &Argv, bool Strict);

/// Says something of the full mode: in the file that INCC_LOG names, else on standard error.
void warn(const std::string &What);

/// For a process that takes Python's place: it ends on purpose, and what it starts has no part in
/// this.
void leaveWatch();

} // namespace incc

#endif
