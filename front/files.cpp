//===- files.cpp - File operations ----------------------------------------===//

#include "files.h"

#include "text.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace incc;

namespace {

/// Returns true if a file system is so full that incc should leave the remaining space to the
/// compiler, which keeps its own temporary files there.
bool isNearlyFull(const std::string &Folder) {
  constexpr unsigned long long Bytes = 16 << 20, Files = 64;
  struct statvfs Space;
  if (statvfs(Folder.c_str(), &Space) != 0)
    return false;
  // Some file systems report no totals.
  return (Space.f_blocks != 0 &&
          static_cast<unsigned long long>(Space.f_bavail) * Space.f_frsize < Bytes) ||
         (Space.f_files != 0 && Space.f_favail < Files);
}

mode_t kind(const std::string &Path) {
  struct stat Status;
  return stat(Path.c_str(), &Status) == 0 ? Status.st_mode & S_IFMT : 0;
}

} // namespace

bool incc::exists(const std::string &Path) { return kind(Path) != 0; }
bool incc::isFile(const std::string &Path) { return kind(Path) == S_IFREG; }
bool incc::isFolder(const std::string &Path) { return kind(Path) == S_IFDIR; }

bool incc::isPrivate(const std::string &Path) {
  struct stat Status;
  return lstat(Path.c_str(), &Status) == 0 && S_ISDIR(Status.st_mode) &&
         Status.st_uid == geteuid() && (Status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool incc::isProgram(const std::string &Path) {
  return access(Path.c_str(), X_OK) == 0 && !isFolder(Path);
}

std::string incc::realPath(const std::string &Path) {
  char Buffer[PATH_MAX];
  return realpath(Path.c_str(), Buffer) ? Buffer : "";
}

std::string incc::workingFolder() {
  char Buffer[PATH_MAX];
  return getcwd(Buffer, sizeof Buffer) ? Buffer : "";
}

bool incc::readAll(int Descriptor, std::string &Text) {
  char Buffer[1 << 16];
  while (true) {
    ssize_t Count = read(Descriptor, Buffer, sizeof Buffer);
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      return Count == 0;
    Text.append(Buffer, Count);
  }
}

const std::string &incc::ownPath() {
  static const std::string Path = realPath("/proc/self/exe");
  return Path;
}

bool incc::readFile(const std::string &Path, std::string &Text) {
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return false;
  struct stat Status;
  if (fstat(File, &Status) == 0 && S_ISREG(Status.st_mode))
    Text.reserve(Text.size() + Status.st_size);
  bool Read = readAll(File, Text);
  close(File);
  return Read;
}

bool incc::writeAll(int Descriptor, std::string_view Text) {
  while (!Text.empty()) {
    ssize_t Count = write(Descriptor, Text.data(), Text.size());
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count < 0)
      return false;
    Text.remove_prefix(Count);
  }
  return true;
}

bool incc::writeFile(const std::string &Path, std::string_view Text) {
  int File = open(Path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (File < 0)
    return false;
  bool Written = writeAll(File, Text);
  // Network file systems report a full disk only on close.
  Written &= close(File) == 0;
  if (!Written)
    unlink(Path.c_str());
  return Written;
}

bool incc::appendFile(const std::string &Path, std::string_view Text) {
  // O_NONBLOCK: opening a pipe without a reader would block.
  int Flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int File = open(Path.c_str(), Flags, 0666);
  if (File < 0)
    return false;
  bool Written = write(File, Text.data(), Text.size()) == static_cast<ssize_t>(Text.size());
  return (close(File) == 0) && Written;
}

bool incc::copyFile(const std::string &From, const std::string &To) {
  int Source = open(From.c_str(), O_RDONLY | O_CLOEXEC);
  if (Source < 0)
    return false;
  int Target = open(To.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (Target < 0) {
    int Error = errno;
    close(Source);
    errno = Error;
    return false;
  }
  bool Copied = ioctl(Target, FICLONE, Source) == 0;
  if (!Copied) {
    ssize_t Count;
    while ((Count = sendfile(Target, Source, nullptr, 1 << 30)) > 0)
      ;
    Copied = Count == 0;
  }
  int Error = errno;
  close(Source);
  if (close(Target) != 0 && Copied) {
    Error = errno;
    Copied = false;
  }
  if (!Copied)
    unlink(To.c_str());
  errno = Error;
  return Copied;
}

bool incc::moveFile(const std::string &From, const std::string &To) {
  if (rename(From.c_str(), To.c_str()) == 0)
    return true;
  if (!copyFile(From, To))
    return false;
  unlink(From.c_str());
  return true;
}

std::string incc::userFolder(const char *Variable, const std::string &HomePath) {
  std::string Base = variable(Variable), Home = variable("HOME");
  if (!Base.starts_with('/'))
    Base = Home.starts_with('/') ? Home + HomePath : "";
  return Base.empty() ? "" : Base + "/incc";
}

bool incc::makeFolders(const std::string &Path) {
  if (mkdir(Path.c_str(), 0777) == 0 || (errno == EEXIST && isFolder(Path)))
    return true;
  std::string Above = folderOf(Path);
  if (errno != ENOENT || Above == Path || !makeFolders(Above))
    return false;
  return mkdir(Path.c_str(), 0777) == 0 || errno == EEXIST;
}

std::string incc::uniqueName() {
  timespec Now;
  clock_gettime(CLOCK_REALTIME, &Now);
  char Buffer[64];
  // Names sort by time. Two names of one process differ because at least one system call lies
  // between them.
  snprintf(Buffer, sizeof Buffer, "%011lld%09ld-%d", static_cast<long long>(Now.tv_sec),
           Now.tv_nsec, static_cast<int>(getpid()));
  return Buffer;
}

std::string incc::makeScratch() {
  std::string Wanted = variable("TMPDIR");
  for (const std::string &Parent : {Wanted, std::string("/tmp")}) {
    // A subfolder will be put into PATH, where a colon is a separator.
    if (Parent.empty() || Parent.find(':') != Parent.npos)
      continue;
    std::string Place = absolute(Parent, workingFolder());
    if (isNearlyFull(Place))
      continue;
    std::string Path = Place + "/incc-" + uniqueName();
    if (mkdir(Path.c_str(), 0700) == 0)
      return Path;
  }
  return "";
}

void incc::removeTree(const std::string &Folder, int Attempt) {
  // O_NOFOLLOW: if somebody replaced the folder by a link, its target must not be emptied.
  int File = open(Folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *Entries = File < 0 ? nullptr : fdopendir(File);
  if (!Entries) {
    if (File >= 0)
      close(File);
    return;
  }
  std::vector<std::string> Folders;
  while (dirent *Entry = readdir(Entries)) {
    std::string_view Name = Entry->d_name;
    if (Name == "." || Name == "..")
      continue;
    std::string Path = Folder + "/" + Entry->d_name;
    if (unlink(Path.c_str()) != 0 && (errno == EISDIR || errno == EPERM))
      Folders.push_back(std::move(Path));
  }
  // Close this folder before descending, so that depth does not exhaust file descriptors.
  closedir(Entries);
  for (const std::string &Inner : Folders)
    removeTree(Inner);
  // A process that is about to exit may have created another file.
  constexpr int Attempts = 50;
  if (rmdir(Folder.c_str()) != 0 && errno == ENOTEMPTY && Attempt < Attempts) {
    usleep(20'000);
    removeTree(Folder, Attempt + 1);
  }
}
