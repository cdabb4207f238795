//===- job.h - What a compilation leaves to be analysed ---------*- C++ -*-===//
//
// A job is a folder with job.json and the files that were kept; driver/builds
// reads it, and says in jobs.py, cache.py and manifest.py what the parts are.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_JOB_H
#define INCC_FRONT_JOB_H

#include "compiler.h"
#include "python.h"

namespace incc {

/// One source of a job.
struct JobUnit {
  std::string Source;
  /// "assembler", "object", "given" or "link".
  std::string Way;
  /// The text or object. `Own`: it is in the job's folder or will be moved there; else it is
  /// somebody else's.
  std::string File;
  bool Own = true;
  /// The words of the compiler proper, none if they are not known.
  Words Proper;
  /// Of a link: what the driver says to -###.
  std::string Asked;
  /// The file that was made of the source, as the command names it.
  std::string Output;
  /// BLAKE2b of that file, and the key in the cache of units.
  std::string Digest, Key;
};

struct Job {
  std::string Folder;
  const Compiler *Real;
  /// The arguments as they were given, and with those of response files in their places.
  const Words *Arguments, *Expanded;
  std::string Output;
  std::vector<JobUnit> Units;

  /// The job as JSON. Files of its own are named without their folder.
  std::string json() const;
};

/// A hash of incc's own files, the machine models and the machine, on all of which reports depend.
const std::string &installation(const Python &Python);

/// Fills in digests and, where there is a cache of units, keys.
void identify(Job &Job, const Python &Python);

/// Puts the reports of units that the cache has into the folder of reports, and takes them out of
/// the job.
void takeCached(Job &Job, const std::string &Reports);

/// Whether INCC_OUTPUT and INCC_ANALYZE leave the report to standard output.
bool reportsToStdout();

/// The folder that INCC_OUTPUT or INCC_ANALYZE names, "" if it is none.
std::string folderOfReports();
/// Why no report can be put where it should go, "" if one can.
std::string whyNoReports();

} // namespace incc

#endif
