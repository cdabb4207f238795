//===- service.h - Client of the service of warm workers --------*- C++ -*-===//
//
// The first compilation of a build starts a service whose workers have loaded
// all of the Python code (driver/builds/service.py). That compilation and later
// ones send their jobs to it through a socket. All of this may fail: without a
// service, each compilation starts its own Python.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_SERVICE_H
#define INCC_FRONT_SERVICE_H

#include "processes.h"
#include "python.h"

#include <optional>

namespace incc {

/// The outcome of a job that was sent to the service.
enum class Served {
  No,          ///< no service, or the worker crashed: the caller must do the job
  Done,        ///< the worker has written the report, and logged what it could not analyse
  TooLong,     ///< the worker reached the time limit
  Interrupted, ///< a signal asked this process to stop
};

/// Sends the sealed job in `Scratch`/job to the service and waits until it is done. With `Shown`,
/// reports or messages go to our standard output and error. `Status` is 0 after a job without
/// problems.
Served serve(const Python &Python, const std::string &Scratch, bool Shown, Processes &Children,
             int &Status);

} // namespace incc

#endif
