//===- full.cpp - Full mode: analysis after the compilation ---------------===//
//
// Builds that use the full mode keep every processor busy, so nothing would be
// gained by running the second compilation in parallel with the first. This
// file runs the compiler first and then passes all additional work to a warm
// worker (service.h), which is told that the compiler succeeded. If there is no
// worker, it starts a Python process for this compilation with the same
// information.
//
//===----------------------------------------------------------------------===//

#include "full.h"

#include "files.h"
#include "processes.h"
#include "seal.h"
#include "service.h"
#include "watch.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

using namespace incc;

namespace {

/// Returns true if a source may come from standard input. Only the compiler can tell for certain.
bool mayReadInput(const Words &Arguments) {
  return getenv("CCC_OVERRIDE_OPTIONS") ||
         std::any_of(Arguments.begin(), Arguments.end(), [](const std::string &Argument) {
           return Argument == "-" || Argument.starts_with("@") || Argument.starts_with("/dev/") ||
                  Argument.starts_with("/proc/");
         });
}

/// Writes the job to the place where a worker looks for it (driver/builds/service.py).
bool leaveJob(const std::string &Scratch, const Words &Started) {
  std::string Text = "{\"folder\":" + quoted(workingFolder()) + ",\"started\":[";
  for (const std::string &Word : Started)
    Text += (&Word == &Started[0] ? "" : ",") + quoted(Word);
  Text += "]}\n";
  std::string Place = Scratch + "/job", Seal = sealOf(Text);
  return !Seal.empty() && makeFolders(Place) && writeFile(Place + "/job.json", Text) &&
         writeFile(Place + "/seal", Seal);
}

} // namespace

void incc::compileFull(const Compiler &Compiler, const Words &Arguments, const Words &Started,
                       const Python &Python) {
  if (mayReadInput(Arguments) || variable("INCC_WORKERS") == "0" || isOn("INCC_DEBUG"))
    return;
  std::string Scratch = makeScratch();
  if (Scratch.empty())
    return;
  Processes Children;
  Words Argv = Compiler.Name;
  Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
  if (!Children.start(Compiler.Path, Argv, {{"INCC_DEPTH", std::to_string(depth() + 1)}})) {
    removeTree(Scratch);
    Children.release();
    return;
  }
  int Status = Children.wait(), Code = 0;
  bool Served = false;
  if (Status == 0 && !Children.interrupted() && leaveJob(Scratch, Started)) {
    switch (serve(Python, Scratch, /*Shown=*/true, Children, Code)) {
    case Served::No:
      break;
    case Served::TooLong:
      warn("not analysed: it took too long (INCC_MAX_SECONDS)");
      [[fallthrough]];
    case Served::Done:
    case Served::Interrupted:
      Served = true;
    }
  }
  removeTree(Scratch);
  if (Status != 0)
    Processes::endAs(Status);
  if (Children.interrupted())
    Processes::dieBy(Children.interrupted());
  if (Served)
    exit(Code);
  Children.release();
  bool Strict = isOn("INCC_STRICT");
  warn("not analysed: " +
       runWatched(Python, pythonCommand(Python, "incc", "finished", Started), Strict));
  exit(Strict ? 1 : 0);
}
