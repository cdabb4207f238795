//===- seal.cpp - Authentication of jobs ----------------------------------===//

#include "seal.h"

#include "blake2b.h"
#include "files.h"
#include "text.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace incc;

namespace {

constexpr size_t KeySize = 32;

/// Returns the path of the key: the build's (INCC_KEY_FILE), or the user's.
std::string keyFile() {
  if (std::string Named = variable("INCC_KEY_FILE"); !Named.empty())
    return Named;
  std::string Folder = userFolder("XDG_STATE_HOME", "/.local/state");
  return Folder.empty() ? "" : Folder + "/key";
}

/// Reads a key. Returns false unless only this user could have read or written it.
bool readKey(const std::string &Path, std::string &Key) {
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (File < 0)
    return false;
  struct stat Status;
  // Root may use the key of a user in whose build it takes part.
  bool Own = fstat(File, &Status) == 0 && S_ISREG(Status.st_mode) && (Status.st_mode & 077) == 0 &&
             (Status.st_uid == geteuid() || geteuid() == 0) && Status.st_size == KeySize;
  bool Read = Own && readAll(File, Key) && Key.size() == KeySize;
  close(File);
  return Read;
}

/// Creates a key unless another process does so first.
void makeKey(const std::string &Path) {
  char Key[KeySize];
  if (!makeFolders(folderOf(Path)) || getrandom(Key, sizeof Key, 0) != sizeof Key)
    return;
  std::string Partial = Path + "." + uniqueName();
  int File = open(Partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (File < 0)
    return;
  bool Written = writeAll(File, {Key, sizeof Key});
  if (close(File) == 0 && Written)
    (void)!link(Partial.c_str(), Path.c_str());
  unlink(Partial.c_str());
}

} // namespace

std::string incc::sealOf(std::string_view Text) {
  std::string Path = keyFile(), Key;
  if (Path.empty())
    return "";
  if (!readKey(Path, Key)) {
    makeKey(Path);
    Key.clear();
    if (!readKey(Path, Key))
      return "";
  }
  Blake2b Hash(32, Key);
  Hash.add(Text);
  return Hash.hex();
}
