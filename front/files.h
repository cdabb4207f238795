//===- files.h - File operations --------------------------------*- C++ -*-===//
//
// These functions neither throw nor print, because a compiler wrapper must go
// on after any failure of the file system. Functions that can fail return a
// status and set errno.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_FILES_H
#define INCC_FRONT_FILES_H

#include <string>
#include <string_view>

namespace incc {

bool exists(const std::string &Path);
/// Returns true if `Path` is a regular file.
bool isFile(const std::string &Path);
bool isFolder(const std::string &Path);
/// Returns true if `Path` is a folder, not a link, that belongs to the user and that nobody else
/// may write to.
bool isPrivate(const std::string &Path);
/// Returns true if `Path` is an executable file.
bool isProgram(const std::string &Path);

/// Returns the path with all links resolved, "" if there is no such file.
std::string realPath(const std::string &Path);
std::string workingFolder();
/// Returns this program's path with all links resolved.
const std::string &ownPath();

bool readFile(const std::string &Path, std::string &Text);
/// Appends the rest of an open file to `Text`. Returns false after a read error; `Text` then
/// contains what was read before it.
bool readAll(int Descriptor, std::string &Text);
bool writeAll(int Descriptor, std::string_view Text);
bool writeFile(const std::string &Path, std::string_view Text);
/// Appends to a file with a single write, so that lines of concurrent processes do not interleave.
bool appendFile(const std::string &Path, std::string_view Text);
/// Copies a file. Shares its blocks if the file system supports that.
bool copyFile(const std::string &From, const std::string &To);
/// Renames a file. Copies and removes it if source and target are on different file systems.
bool moveFile(const std::string &From, const std::string &To);

/// Returns incc's folder below the base folder that an XDG variable names, or below HOME at the
/// path `HomePath`; "" if the environment gives neither. The XDG specification requires relative
/// paths in these variables to be ignored (support/trust.py does the same).
std::string userFolder(const char *Variable, const std::string &HomePath);

/// Creates a folder and its missing parents.
bool makeFolders(const std::string &Path);
/// Creates a private temporary folder in $TMPDIR, or in /tmp if $TMPDIR is missing (as gcc does).
/// Returns "" if neither is usable.
std::string makeScratch();
/// Removes a folder and its contents.
void removeTree(const std::string &Folder, int Attempt = 0);
/// Returns a file name that no other process uses, now or later.
std::string uniqueName();

} // namespace incc

#endif
