//===- seal.h - Authentication of jobs --------------------------*- C++ -*-===//
//
// A job waits in a folder, which may come from elsewhere, such as an archive,
// and names programs to run and files to write. Workers therefore accept only
// jobs with a seal: the BLAKE2b hash of job.json with a key that only this user
// can read. support/trust.py implements the same.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_SEAL_H
#define INCC_FRONT_SEAL_H

#include <string>
#include <string_view>

namespace incc {

/// Returns the seal of a job's text. Creates the key at first use. Returns "" if the key cannot be
/// read or created.
std::string sealOf(std::string_view Text);

} // namespace incc

#endif
