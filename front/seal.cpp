//===- seal.cpp - The sign of a job that this user's incc has left --------===//

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

/// Returns the file of the key: that of the build, or that of the user.
std::string keyFile() {
  if (std::string Named = variable("INCC_KEY_FILE"); !Named.empty())
    return Named;
  std::string Folder = userFolder("XDG_STATE_HOME", "/.local/state");
  return Folder.empty() ? "" : Folder + "/key";
}

/// Reads a key that nobody else can read or could have written.
bool readKey(const std::string &Path, std::string &Key) {
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (File < 0)
    return false;
  struct stat Status;
  // Root takes part in a user's build with its key.
  bool Own = fstat(File, &Status) == 0 && S_ISREG(Status.st_mode) && (Status.st_mode & 077) == 0 &&
             (Status.st_uid == geteuid() || geteuid() == 0) && Status.st_size == KeySize;
  bool Read = Own && readAll(File, Key) && Key.size() == KeySize;
  close(File);
  return Read;
}

/// Makes a key, unless another process does so first.
void makeKey(const std::string &Path) {
  char Key[KeySize];
  if (!makeFolders(folderOf(Path)) || getrandom(Key, sizeof Key, 0) != sizeof Key)
    return;
  std::string Begun = Path + "." + uniqueName();
  int File = open(Begun.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (File < 0)
    return;
  bool Written = writeAll(File, {Key, sizeof Key});
  if (close(File) == 0 && Written)
    (void)!link(Begun.c_str(), Path.c_str());
  unlink(Begun.c_str());
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
