//===- job.h - Jobs: compilations to be analysed ----------------*- C++ -*-===//
//
// A job is a folder that contains job.json, its seal, and copies of the files
// to analyse. Python reads it in driver/builds; jobs.py, cache.py and
// manifest.py there document the formats.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_JOB_H
#define INCC_FRONT_JOB_H

#include "compiler.h"
#include "python.h"

namespace incc {

/// One source of a job, or the result of a link.
struct JobUnit {
  std::string Source;
  /// The origin of the code: "assembler", "object", "given" (assembly that the user wrote) or
  /// "link".
  std::string Way;
  /// The assembly or object file. If `Own`, the file is in the job's folder or will be moved there.
  /// Otherwise it belongs to the user.
  std::string File;
  bool Own = true;
  /// The command of the compiler proper, empty if it is not known.
  Words Proper;
  /// For a link, the driver's output for -###.
  std::string LinkOutput;
  /// The output file, named as in the command.
  std::string Output;
  /// The BLAKE2b digest of the output file, and the unit's key in the cache of units.
  std::string Digest, Key;
};

struct Job {
  std::string Folder;
  const Compiler *Real;
  /// The arguments as given, and with response files expanded.
  const Words *Arguments, *Expanded;
  std::string Output;
  std::vector<JobUnit> Units;

  /// Returns the job as JSON. The job's own files are named relative to its folder.
  std::string json() const;
};

/// Returns a hash of everything besides the compilation that a report depends on: incc's own files,
/// the machine models and the machine.
const std::string &installation(const Python &Python);

/// Fills in the units' digests and, if there is a cache of units, their keys.
void identify(Job &Job, const Python &Python);

/// Writes the reports of cached units into the folder of reports and removes these units from the
/// job.
void takeCached(Job &Job, const std::string &Reports);

/// Returns true if the report goes to standard output, according to INCC_OUTPUT and INCC_ANALYZE.
bool reportsToStdout();

/// Returns the folder that INCC_OUTPUT or INCC_ANALYZE names, "" if they name no folder.
std::string folderOfReports();
/// Returns the reason why no report can be written to its destination, "" if one can.
std::string whyNoReports();

} // namespace incc

#endif
