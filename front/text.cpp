//===- text.cpp - Words, paths and quoting --------------------------------===//

#include "text.h"

#include "files.h"

#include <cstdlib>

using namespace incc;

std::string incc::variable(const char *Name) {
  const char *Value = getenv(Name);
  return Value ? Value : "";
}

bool incc::isOn(const char *Name) {
  std::string Value = variable(Name);
  return !Value.empty() && Value != "0";
}

std::string_view incc::baseName(std::string_view Path) {
  size_t Slash = Path.rfind('/');
  return Slash == Path.npos ? Path : Path.substr(Slash + 1);
}

std::string incc::folderOf(const std::string &Path) {
  size_t Slash = Path.rfind('/');
  return Slash == Path.npos ? "." : Slash == 0 ? "/" : Path.substr(0, Slash);
}

std::string_view incc::ending(std::string_view Path) {
  std::string_view Base = baseName(Path);
  size_t Dot = Base.rfind('.');
  return Dot == Base.npos ? std::string_view() : Base.substr(Dot + 1);
}

std::string incc::absolute(const std::string &Path, const std::string &Folder) {
  return Path.starts_with("/") ? Path : Folder + "/" + Path;
}

Words incc::splitShell(const std::string &Text, std::string &Error) {
  Words Result;
  std::string Word;
  bool Inside = false; // inside a word, which may be empty: ''
  char Quote = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (Quote) {
      if (C == Quote) {
        Quote = 0;
      } else if (C == '\\' && Quote == '"' && I + 1 < Text.size() &&
                 (Text[I + 1] == '"' || Text[I + 1] == '\\')) {
        Word += Text[++I];
      } else {
        Word += C;
      }
    } else if (C == '\'' || C == '"') {
      Quote = C;
      Inside = true;
    } else if (C == '\\') {
      if (I + 1 == Text.size()) {
        Error = "No escaped character";
        return {};
      }
      Word += Text[++I];
      Inside = true;
    } else if (C == ' ' || (C >= '\t' && C <= '\r')) {
      if (Inside)
        Result.push_back(std::move(Word));
      Word.clear();
      Inside = false;
    } else {
      Word += C;
      Inside = true;
    }
  }
  if (Quote) {
    Error = "No closing quotation";
    return {};
  }
  if (Inside)
    Result.push_back(std::move(Word));
  return Result;
}

Words incc::splitResponseFile(const std::string &Text) {
  Words Result;
  std::string Word;
  bool Inside = false;
  char Quote = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C == '\\') {
      Inside = true;
      if (I + 1 < Text.size())
        Word += Text[++I];
    } else if (Quote) {
      if (C == Quote)
        Quote = 0;
      else
        Word += C;
    } else if (C == ' ' || (C >= '\t' && C <= '\r')) {
      if (Inside)
        Result.push_back(std::move(Word));
      Word.clear();
      Inside = false;
    } else {
      Inside = true;
      if (C == '\'' || C == '"')
        Quote = C;
      else
        Word += C;
    }
  }
  if (Inside)
    Result.push_back(std::move(Word));
  return Result;
}

namespace {

/// A response file may name others and itself, even several times. gcc gives up after 2000 files.
constexpr int Deepest = 16, MostFiles = 2000;

void expand(const Words &Arguments, int Depth, int &Files, Words &Result, bool &Unread) {
  for (const std::string &Argument : Arguments) {
    std::string Text;
    if (!Argument.starts_with("@") || !exists(Argument.substr(1))) {
      Result.push_back(Argument);
    } else if (Depth == Deepest || ++Files > MostFiles || !isFile(Argument.substr(1)) ||
               !readFile(Argument.substr(1), Text)) {
      Unread = true;
      Result.push_back(Argument);
    } else {
      expand(splitResponseFile(Text), Depth + 1, Files, Result, Unread);
    }
  }
}

/// Returns the length in bytes of the UTF-8 character at the start of a text, 0 if it is invalid.
size_t character(std::string_view Text) {
  auto byte = [&](size_t I) { return I < Text.size() ? static_cast<unsigned char>(Text[I]) : 0u; };
  auto follows = [&](size_t I) { return (byte(I) & 0xC0) == 0x80; };
  unsigned First = byte(0);
  if (First < 0x80)
    return 1;
  if (First >= 0xC2 && First <= 0xDF)
    return follows(1) ? 2 : 0;
  if (First >= 0xE0 && First <= 0xEF) {
    // Reject overlong encodings and surrogates.
    if ((First == 0xE0 && byte(1) < 0xA0) || (First == 0xED && byte(1) >= 0xA0))
      return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (First >= 0xF0 && First <= 0xF4) {
    if ((First == 0xF0 && byte(1) < 0x90) || (First == 0xF4 && byte(1) >= 0x90))
      return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

} // namespace

Words incc::expanded(const Words &Arguments, bool &Unread) {
  Words Result;
  int Files = 0;
  expand(Arguments, 0, Files, Result, Unread);
  return Result;
}

std::string incc::quoted(std::string_view Text) {
  static constexpr char Digits[] = "0123456789abcdef";
  std::string Result = "\"";
  for (size_t I = 0; I < Text.size();) {
    unsigned char C = Text[I];
    size_t Length = character(Text.substr(I));
    if (C == '"' || C == '\\') {
      Result += {'\\', static_cast<char>(C)};
      ++I;
    } else if (C < 0x20 || C == 0x7F) {
      Result += {'\\', 'u', '0', '0', Digits[C >> 4], Digits[C & 15]};
      ++I;
    } else if (Length == 0) {
      Result += {'\\', 'u', 'd', 'c', Digits[C >> 4], Digits[C & 15]};
      ++I;
    } else {
      Result += Text.substr(I, Length);
      I += Length;
    }
  }
  return Result + '"';
}
