//===- seal.h - The sign of a job that this user's incc has left -*- C++ -*-===//
//
// A job waits in a folder that may come from elsewhere, such as an archive, and
// names programs to run and files to write. Whoever takes jobs therefore takes
// only those with a seal: BLAKE2b of job.json with a key that only this user
// can read. support/trust.py does the same.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_SEAL_H
#define INCC_FRONT_SEAL_H

#include <string>
#include <string_view>

namespace incc {

/// Returns the seal of a job's text, and makes the key at first use. "" if there is no place for
/// the key.
std::string sealOf(std::string_view Text);

} // namespace incc

#endif
