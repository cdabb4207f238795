//===- files.h - What the front does with files -----------------*- C++ -*-===//
//
// Nothing here throws or prints: a compiler wrapper goes on whatever a file
// system says. Functions that can fail say so by what they return, and errno.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_FILES_H
#define INCC_FRONT_FILES_H

#include <string>
#include <string_view>

namespace incc {

bool isThere(const std::string &Path);
/// Whether it is a regular file.
bool isFile(const std::string &Path);
bool isFolder(const std::string &Path);
/// Whether it is a folder, and no link, that belongs to the user and that nobody else may write to.
bool isPrivate(const std::string &Path);
/// Whether it is something that can be started.
bool isProgram(const std::string &Path);

/// A path without links, "" if there is no such file.
std::string realPath(const std::string &Path);
std::string workingFolder();
/// This program's own path, without links.
const std::string &ownPath();

bool readFile(const std::string &Path, std::string &Text);
/// What can be read of an open file; false if something could not.
bool readAll(int Descriptor, std::string &Text);
bool writeAll(int Descriptor, std::string_view Text);
bool writeFile(const std::string &Path, std::string_view Text);
/// Adds to a file with a single write, so that lines of many processes do not mix.
bool appendFile(const std::string &Path, std::string_view Text);
/// Copies a file, sharing its blocks where the file system can do that.
bool copyFile(const std::string &From, const std::string &To);
/// Renames a file, or copies and removes it where the two are on different file systems.
bool moveFile(const std::string &From, const std::string &To);

/// incc's folder in the base folder that a variable names, or else in that place in HOME; "" if the
/// environment names none. Relative paths in such variables are ignored, as the XDG specification
/// says (support/trust.py).
std::string userFolder(const char *Variable, const std::string &Otherwise);

/// A folder and those above it.
bool makeFolders(const std::string &Path);
/// A new private folder for what is temporary, in $TMPDIR, or in /tmp where that is missing (as gcc
/// does); "" if there is none to be had.
std::string makeScratch();
/// Removes a folder with all that is in it.
void removeTree(const std::string &Folder, int Attempt = 0);
/// A name that no other process has, now or later.
std::string uniqueName();

} // namespace incc

#endif
