//===- text.h - Words, names of files and how they are quoted ---*- C++ -*-===//

#ifndef INCC_FRONT_TEXT_H
#define INCC_FRONT_TEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace incc {

/// Arguments of a command. They may hold any bytes but NUL.
using Words = std::vector<std::string>;

/// A variable of the environment, "" if it is not set.
std::string variable(const char *Name);

/// Whether a variable is set to something else than nothing or 0.
bool isOn(const char *Name);

/// The last part of a path.
std::string_view baseName(std::string_view Path);

/// What stands before the last part of a path, "." if nothing does.
std::string folderOf(const std::string &Path);

/// What follows the last dot of a path's last part, "" if there is none.
std::string_view ending(std::string_view Path);

/// `Path`, which may be relative to `Folder`.
std::string absolute(const std::string &Path, const std::string &Folder);

/// Words with blanks between them, quoted as in a shell (Python's shlex.split). `Error` says what
/// is wrong with the quotes, if anything is.
Words splitShell(const std::string &Text, std::string &Error);

/// Words of a response file (libiberty's buildargv): quotes and backslashes keep what they hold.
Words splitResponseFile(const std::string &Text);

/// `Arguments` with those of response files in their places. `Unread`: there is one that was not
/// read, because it is no file; who else reads a pipe would take it from the compiler.
Words expanded(const Words &Arguments, bool &Unread);

/// A string of JSON. Bytes that are not UTF-8 become \udcXX, as Python's surrogateescape has them.
std::string quoted(std::string_view Text);

} // namespace incc

#endif
