//===- job.cpp - Jobs: compilations to be analysed ------------------------===//

#include "job.h"

#include "blake2b.h"
#include "files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

using namespace incc;

extern char **environ;

namespace {

/// Variables that contain one path or several separated by colons. They are made absolute, because
/// a job may be read in another working directory.
constexpr std::string_view NamesFiles[] = {"INCC_MODEL_PATH", "INCC_LOG", "INCC_CACHE"};

/// Variables other than INCC_… that the analysis reads: the search paths of headers.
constexpr std::string_view OtherVariables[] = {"C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
                                               "OBJC_INCLUDE_PATH"};

/// Variables that change a report. They are part of a unit's key.
constexpr const char *Settings[] = {"INCC_FORMAT",        "INCC_MCPU",        "INCC_FUNCTION",
                                    "INCC_OPTIONS",       "INCC_MODEL_PATH",  "C_INCLUDE_PATH",
                                    "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH"};

std::string absolutePaths(const std::string &Value, const std::string &Folder) {
  std::string Result;
  size_t Start = 0;
  while (Start <= Value.size()) {
    size_t Colon = std::min(Value.find(':', Start), Value.size());
    std::string Path = Value.substr(Start, Colon - Start);
    Result += (Start ? ":" : "") + (Path.empty() ? Path : absolute(Path, Folder));
    Start = Colon + 1;
  }
  return Result;
}

std::string list(const Words &Words) {
  std::string Result = "[";
  for (const std::string &Word : Words)
    Result += (Result.size() > 1 ? "," : "") + quoted(Word);
  return Result + "]";
}

std::string environmentOf(const std::string &Folder) {
  std::string Result;
  for (char **Entry = environ; *Entry; ++Entry) {
    std::string_view Text = *Entry;
    size_t Equals = Text.find('=');
    if (Equals == Text.npos)
      continue;
    std::string_view Name = Text.substr(0, Equals);
    if (!Name.starts_with("INCC_") &&
        std::find(std::begin(OtherVariables), std::end(OtherVariables), Name) ==
            std::end(OtherVariables))
      continue;
    std::string Value(Text.substr(Equals + 1));
    if (Name == "INCC_DEPTH" || Name == "INCC_JOB")
      continue;
    bool Files =
        std::find(std::begin(NamesFiles), std::end(NamesFiles), Name) != std::end(NamesFiles);
    if (Name == "INCC_OUTPUT" && !Value.empty())
      Value = absolute(Value, Folder);
    else if (Name == "INCC_ANALYZE" && !Value.empty() && Value != "0" && Value != "1" &&
             Value != "-")
      Value = absolute(Value, Folder);
    else if (Files && !(Name == "INCC_CACHE" && Value == "0"))
      Value = absolutePaths(Value, Folder);
    Result += (Result.empty() ? "" : ",") + quoted(Name) + ":" + quoted(Value);
  }
  return "{" + Result + "}";
}

/// Adds a file's path, size and time of modification: enough to notice a change without reading it.
void addStamp(Blake2b &Hash, const std::string &Path) {
  struct stat Status;
  if (stat(Path.c_str(), &Status) != 0)
    return;
  Hash.addField(Path);
  Hash.add(std::to_string(Status.st_size) + " " + std::to_string(Status.st_mtim.tv_sec) + "." +
           std::to_string(Status.st_mtim.tv_nsec) + ";");
}

/// Adds the stamps of the files in a folder and its subfolders, up to `Levels` deep, in a fixed
/// order. The depth is limited because links may form a cycle.
void addStamps(Blake2b &Hash, const std::string &Folder, int Levels) {
  std::vector<std::pair<std::string, bool>> Names;
  DIR *Entries = opendir(Folder.c_str());
  if (!Entries)
    return addStamp(Hash, Folder);
  while (dirent *Entry = readdir(Entries)) {
    std::string Name = Entry->d_name;
    if (Name[0] == '.' || Name == "__pycache__")
      continue;
    // Links are followed, because a program that runs from the source tree reaches its packages
    // through them.
    bool Inner =
        Entry->d_type == DT_DIR || (Entry->d_type != DT_REG && isFolder(Folder + "/" + Name));
    Names.emplace_back(std::move(Name), Inner);
  }
  closedir(Entries);
  std::sort(Names.begin(), Names.end());
  for (auto &[Name, Inner] : Names) {
    if (Inner && Levels > 0)
      addStamps(Hash, Folder + "/" + Name, Levels - 1);
    else if (!Inner)
      addStamp(Hash, Folder + "/" + Name);
  }
}

/// The depth of the package's subfolders.
constexpr int PackageLevels = 8;

/// Adds everything that reports depend on besides the compilation: incc itself, the models and the
/// machine, whose core is the default target.
void addInstallation(Blake2b &Hash, const Python &Python) {
  Hash.addField(INCC_VERSION);
  addStamp(Hash, ownPath());
  addStamp(Hash, Python.Interpreter);
  if (!Python.Package.empty())
    addStamps(Hash, Python.Package, PackageLevels);
  std::string Models = variable("INCC_MODEL_PATH");
  for (size_t Start = 0; Start < Models.size();) {
    size_t Colon = std::min(Models.find(':', Start), Models.size());
    if (Colon > Start)
      addStamps(Hash, Models.substr(Start, Colon - Start), 0);
    Start = Colon + 1;
  }
#if defined(__x86_64__) || defined(__i386__)
  unsigned Eax = 0, Ebx = 0, Ecx = 0, Edx = 0;
  __get_cpuid(1, &Eax, &Ebx, &Ecx, &Edx);
  Hash.add("cpu " + std::to_string(Eax) + ";");
#endif
}

/// Adds the stamp of the project's incc.toml. Only the analysis knows what the file means, so any
/// change of it changes the key.
void addProject(Blake2b &Hash, const std::string &Source) {
  std::string Folder = folderOf(Source);
  while (true) {
    std::string File = Folder + "/incc.toml";
    if (exists(File))
      return addStamp(Hash, File);
    std::string Above = folderOf(Folder);
    if (Above == Folder || Folder == ".")
      return;
    Folder = Above;
  }
}

/// Returns the folder of the caches, "" if they are disabled.
std::string cacheFolder() {
  std::string Chosen = variable("INCC_CACHE");
  if (!Chosen.empty())
    return Chosen == "0" ? "" : absolute(Chosen, workingFolder());
  return userFolder("XDG_CACHE_HOME", "/.cache");
}

std::string hashOf(std::string_view Text) {
  Blake2b Hash;
  Hash.add(Text);
  return Hash.hex();
}

/// Appends a line to the folder's manifest while holding its lock.
bool addToManifest(const std::string &Reports, const std::string &Line) {
  std::string Own = Reports + "/.incc";
  if (!makeFolders(Own))
    return false;
  int File = open((Own + "/manifest.jsonl").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (File < 0)
    return false;
  while (flock(File, LOCK_EX) != 0 && errno == EINTR)
    ;
  char Last = '\n';
  off_t Size = lseek(File, 0, SEEK_END);
  if (Size > 0 && pread(File, &Last, 1, Size - 1) != 1)
    Last = '\n';
  // The last line is incomplete if a process was killed or the disk was full.
  bool Added = writeAll(File, Last == '\n' ? Line : "\n" + Line);
  return (close(File) == 0) && Added;
}

/// Writes a cached report into the folder of reports. Returns false if the cache has none.
bool takeCached(const JobUnit &Unit, const std::string &Cache, const std::string &Reports) {
  constexpr std::string_view Magic = "incc unit 1\n";
  if (!isPrivate(Cache + "/units"))
    return false;
  std::string Entry = Cache + "/units/" + Unit.Key.substr(0, 2) + "/" + Unit.Key.substr(2);
  std::string Data;
  if (!readFile(Entry, Data) || !Data.starts_with(Magic))
    return false;
  std::string_view Rest = std::string_view(Data).substr(Magic.size());
  if (Rest.size() < 33 || Rest[32] != '\n' || hashOf(Rest.substr(33)) != Rest.substr(0, 32))
    return false;
  Rest.remove_prefix(33);
  size_t NameEnd = Rest.find('\n');
  size_t LineEnd = NameEnd == Rest.npos ? Rest.npos : Rest.find('\n', NameEnd + 1);
  if (LineEnd == Rest.npos || NameEnd == 0 || Rest.substr(0, NameEnd).find('/') != Rest.npos)
    return false;
  std::string Report = Reports + "/" + std::string(Rest.substr(0, NameEnd));
  std::string New = Report + "." + std::to_string(getpid()) + ".new";
  std::string Line = "{\"digest\":" + quoted(Unit.Digest) + ",";
  Line += Rest.substr(NameEnd + 1, LineEnd - NameEnd);
  if (!writeFile(New, Rest.substr(LineEnd + 1)))
    return false;
  if (rename(New.c_str(), Report.c_str()) != 0) {
    unlink(New.c_str());
    return false;
  }
  // Clean-up removes the entries that have not been used for longest.
  utimensat(AT_FDCWD, Entry.c_str(), nullptr, 0);
  return addToManifest(Reports, Line);
}

} // namespace

bool incc::reportsToStdout() {
  std::string Analyze = variable("INCC_ANALYZE");
  return variable("INCC_OUTPUT").empty() && (Analyze == "1" || Analyze == "-");
}

std::string incc::whyNoReports() {
  std::string Output = variable("INCC_OUTPUT");
  if (Output.empty() || reportsToStdout())
    return "";
  std::string Path = absolute(Output, workingFolder());
  std::string Place = exists(Path) ? Path : Path.substr(0, Path.rfind('/') + 1);
  if (access(Place.c_str(), W_OK) == 0)
    return "";
  return "INCC_OUTPUT: " + (exists(Place) ? Path : Place) + ": " + strerror(errno);
}

std::string incc::folderOfReports() {
  std::string Output = variable("INCC_OUTPUT");
  if (Output.empty()) {
    Output = variable("INCC_ANALYZE");
    if (Output == "1" || Output == "0" || Output == "-")
      return "";
  }
  // In a build with a queue the name is a folder even if somebody has just removed it.
  return isFolder(Output) || isOn("INCC_QUEUE") ? absolute(Output, workingFolder()) : "";
}

std::string Job::json() const {
  std::string Digests, Parts;
  for (const JobUnit &Unit : Units) {
    if (!Unit.Digest.empty() && Digests.find(quoted(Unit.Output) + ":") == Digests.npos)
      Digests += (Digests.empty() ? "" : ",") + quoted(Unit.Output) + ":" + quoted(Unit.Digest);
    std::string File(Unit.Own ? baseName(Unit.File) : Unit.File);
    Parts += (Parts.empty() ? "{\"source\":" : ",{\"source\":") + quoted(Unit.Source);
    Parts += ",\"way\":" + quoted(Unit.Way) + ",\"file\":" + quoted(File);
    if (!Unit.LinkOutput.empty())
      Parts += ",\"asked\":" + quoted(Unit.LinkOutput);
    Parts += ",\"proper\":" + list(Unit.Proper) + ",\"output\":" + quoted(Unit.Output);
    Parts += ",\"key\":" + quoted(Unit.Key) + "}";
  }
  std::string Log = variable("INCC_LOG");
  std::string Text = "{\"version\":1,\"folder\":" + quoted(Folder);
  Text += ",\"compiler\":" + quoted(Real->Path) + ",\"words\":" + list(Real->Name);
  Text += ",\"arguments\":" + list(*Arguments) + ",\"output\":" + quoted(Output);
  // Build systems remove response files when the command has finished, so store the expansion.
  if (*Expanded != *Arguments)
    Text += ",\"expanded\":" + list(*Expanded);
  Text += ",\"environment\":" + environmentOf(Folder) + ",\"units\":[" + Parts + "]";
  Text += ",\"digest\":{" + Digests + "}";
  Text += ",\"log\":" + quoted(Log.empty() ? "" : absolute(Log, Folder)) + "}\n";
  return Text;
}

const std::string &incc::installation(const Python &Python) {
  static const std::string Known = [&] {
    Blake2b Hash;
    addInstallation(Hash, Python);
    return Hash.hex();
  }();
  return Known;
}

void incc::identify(Job &Job, const Python &Python) {
  bool Cached = !cacheFolder().empty() && !folderOfReports().empty();
  for (JobUnit &Unit : Job.Units) {
    std::string Made, Code;
    bool SameFile = Unit.Way == "object" || Unit.Way == "link" ||
                    Unit.File == absolute(Unit.Output, Job.Folder);
    // Only a regular file can be compared, or read twice.
    if (!Unit.Output.empty() && isFile(Unit.Output) && readFile(Unit.Output, Made))
      Unit.Digest = hashOf(Made);
    if (!Cached || (!SameFile && !readFile(Unit.File, Code)))
      continue;
    Blake2b Hash;
    Hash.addField(installation(Python));
    Hash.addField(SameFile ? Made : Code);
    Hash.addField(Unit.Way);
    for (const Words *Part : {&Job.Real->Name, Job.Arguments}) {
      Hash.add(std::to_string(Part->size()) + ";");
      for (const std::string &Word : *Part)
        Hash.addField(Word);
    }
    Hash.addField(Job.Real->Path);
    Hash.addField(Job.Folder);
    Hash.addField(Unit.Source);
    Hash.addField(Unit.Output);
    for (size_t I = 0; I < Unit.Proper.size(); ++I) {
      // The operand of -o is a temporary file with a new name in each run.
      if (I == 0 || Unit.Proper[I - 1] != "-o")
        Hash.addField(Unit.Proper[I]);
    }
    for (const char *Name : Settings)
      Hash.addField(variable(Name));
    addProject(Hash, absolute(Unit.Source, Job.Folder));
    Unit.Key = Hash.hex();
  }
}

void incc::takeCached(Job &Job, const std::string &Reports) {
  std::string Cache = cacheFolder();
  std::erase_if(Job.Units, [&](const JobUnit &Unit) {
    return !Unit.Key.empty() && ::takeCached(Unit, Cache, Reports);
  });
}
