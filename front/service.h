//===- service.h - Analysis by warm workers ---------------------*- C++ -*-===//
//
// The first compilation of a build starts a service, whose workers have all of
// Python loaded (driver/builds/service.py); it and later ones hand their jobs
// to it through a socket. Without a service each compilation starts a Python
// of its own, so everything here may fail.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_SERVICE_H
#define INCC_FRONT_SERVICE_H

#include "processes.h"
#include "python.h"

#include <optional>

namespace incc {

/// How a job that was handed to the service ended.
enum class Served {
  No,          ///< no service, or the worker crashed: the job is still to be done
  Done,        ///< the worker has reported, and logged what is not analysed
  TooLong,     ///< the worker was ended by the limit of time
  Interrupted, ///< a signal asked this process to stop
};

/// Has the sealed job in `Scratch`/job done, and waits for it. `Shown`: reports or messages go to
/// our standard output and error. `Status` is 0 after a job without problems.
Served serve(const Python &Python, const std::string &Scratch, bool Shown, Processes &Children,
             int &Status);

} // namespace incc

#endif
