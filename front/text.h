//===- text.h - Words, paths and quoting ------------------------*- C++ -*-===//

#ifndef INCC_FRONT_TEXT_H
#define INCC_FRONT_TEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace incc {

/// The arguments of a command. They may contain any byte except NUL.
using Words = std::vector<std::string>;

/// Returns an environment variable, "" if it is not set.
std::string variable(const char *Name);

/// Returns true if a variable is set to something other than "" or "0".
bool isOn(const char *Name);

/// Returns the last component of a path.
std::string_view baseName(std::string_view Path);

/// Returns the path of the parent folder, "." if the path has only one component.
std::string folderOf(const std::string &Path);

/// Returns the text after the last dot of a path's last component, "" if there is none.
std::string_view ending(std::string_view Path);

/// Returns `Path` as an absolute path, relative to `Folder` unless it is absolute already.
std::string absolute(const std::string &Path, const std::string &Folder);

/// Splits a text into words by the rules of a shell (Python's shlex.split). If a quotation is not
/// closed, `Error` describes the problem.
Words splitShell(const std::string &Text, std::string &Error);

/// Splits the text of a response file into words. Quotes and backslashes preserve blanks, as in
/// libiberty's buildargv.
Words splitResponseFile(const std::string &Text);

/// Returns `Arguments` with response files replaced by their contents. Sets `Unread` if one was not
/// read because it is no regular file: reading a pipe would take its contents away from the
/// compiler.
Words expanded(const Words &Arguments, bool &Unread);

/// Returns a JSON string. Bytes that are not UTF-8 become \udcXX, as with Python's surrogateescape.
std::string quoted(std::string_view Text);

} // namespace incc

#endif
