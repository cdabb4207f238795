//===- Clauses.cpp - Parsing the clauses of a mark ------------------------===//

#include "Clauses.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace llvm;
using namespace incc;

namespace {

const StringRef Clauses[] = {"name", "mcpu", "trip", "let", "expect"};

/// Returns the text of tokens, with the blanks between them.
std::string textOf(ArrayRef<Piece> Pieces) {
  std::string Text;
  for (const Piece &P : Pieces) {
    if (!Text.empty())
      Text.append(P.Gap, ' ');
    Text += P.Text;
  }
  return Text;
}

/// Returns true for names of kernels and cores, with the same rule as in comments
/// (frontends/marks.py).
bool isName(StringRef Text) {
  return !Text.empty() && all_of(Text, [](char C) {
    return isAlnum(C) || StringRef("_.+-").contains(C) || static_cast<unsigned char>(C) >= 0x80;
  });
}

std::string quoted(StringRef Text) { return ("'" + Text + "'").str(); }

class Reader {
public:
  Reader(ArrayRef<Piece> Pieces, StringRef Where, Report Tell)
      : Pieces(Pieces), Where(Where), Tell(Tell) {}

  ParsedMark read() {
    while (At < Pieces.size()) {
      if (Pieces[At].Text == ",")
        ++At;
      else
        clause();
    }
    return std::move(Found);
  }

private:
  void clause() {
    const Piece &Word = Pieces[At++];
    if (!Word.Word) {
      about(Word, "expected 'name', 'mcpu' or 'expect' in " + Where.str() + ", found " +
                      quoted(Word.Text));
      skip();
      return;
    }
    StringRef Kind = Word.Text;
    if (!is_contained(Clauses, Kind)) {
      std::string Message = "unknown clause " + quoted(Kind) + " in " + Where.str();
      Kind = nearest(Kind, Clauses);
      if (Kind.empty())
        about(Word, Message + "; expected 'name', 'mcpu' or 'expect'");
      else
        about(Word, Message + "; did you mean " + quoted(Kind) + "?", Kind);
    }
    if (At == Pieces.size() || Pieces[At].Text != "(") {
      if (!Kind.empty())
        withoutParentheses(Kind, Word);
      return;
    }
    size_t Open = At++, Begin = At;
    for (unsigned Depth = 1; At < Pieces.size(); ++At) {
      Depth += Pieces[At].Text == "(";
      if (Pieces[At].Text == ")" && !--Depth)
        break;
    }
    ArrayRef<Piece> Inside = Pieces.slice(Begin, At - Begin);
    if (At < Pieces.size()) {
      ++At;
    } else {
      clang::SourceLocation End = Pieces.back().End;
      Tell({End, "expected ')' at the end of " + quoted(Kind.empty() ? StringRef(Word.Text) : Kind),
            End, End, true, ")"});
    }
    if (!Kind.empty())
      take(Kind, Word, Pieces[Open], Inside, Pieces[At - 1].End);
  }

  /// Skips to the next clause, because the tokens before it cannot be parsed.
  void skip() {
    while (At < Pieces.size() && !is_contained(Clauses, Pieces[At].Text))
      ++At;
  }

  /// Handles a clause without parentheses: `name x`.
  void withoutParentheses(StringRef Kind, const Piece &Word) {
    std::string Message = "expected '(' after " + quoted(Kind);
    bool Takes = At < Pieces.size() && Pieces[At].Word && Kind != "expect" &&
                 !is_contained(Clauses, Pieces[At].Text) &&
                 (At + 1 == Pieces.size() || Pieces[At + 1].Text != "(");
    if (!Takes) {
      Tell({Word.End, Message, {}, {}, false, ""});
      skip();
      return;
    }
    ArrayRef<Piece> Inside = Pieces.slice(At, 1);
    const Piece &Value = Pieces[At++];
    about(Value, Message, "(" + Value.Text + ")");
    take(Kind, Word, Value, Inside, Value.End);
  }

  void take(StringRef Kind, const Piece &Word, const Piece &Open, ArrayRef<Piece> Inside,
            clang::SourceLocation End) {
    if (Inside.empty()) {
      Tell({Open.End,
            "expected " +
                std::string(Kind == "expect" ? "a condition"
                            : Kind == "mcpu" ? "the name of a core"
                            : Kind == "trip" ? "a number of iterations"
                            : Kind == "let"  ? "a value"
                                             : "a name") +
                " in '" + Kind.str() + "()'",
            {},
            {},
            false,
            ""});
      return;
    }
    std::string Text = textOf(Inside);
    clang::SourceLocation Begin = Inside.front().Begin;
    if (Kind == "expect") {
      Found.Expected.push_back({std::move(Text), Begin});
    } else if (Kind == "name") {
      if (!Found.Name.empty())
        Tell({Word.Begin, "duplicate clause 'name' in " + Where.str(), Word.Begin, End, true, ""});
      else if (!isName(Text))
        Tell({Begin, "a name is one word, not " + quoted(Text), Begin, Inside.back().End, false,
              ""});
      else
        Found.Name = std::move(Text);
    } else if (Kind == "trip") {
      Found.Trip = std::move(Text);
    } else if (Kind == "let") {
      Found.Let += (Found.Let.empty() ? "" : ",") + Text;
    } else {
      SmallVector<StringRef, 4> Cores;
      SplitString(Text, Cores, " \t,");
      for (StringRef Core : Cores) {
        if (!isName(Core))
          Tell({Begin, quoted(Core) + " is not the name of a core", Begin, Inside.back().End, false,
                ""});
        else if (!is_contained(Found.Cores, Core))
          Found.Cores.push_back(Core.str());
      }
    }
  }

  void about(const Piece &P, std::string Message) {
    Tell({P.Begin, std::move(Message), P.Begin, P.End, false, ""});
  }

  void about(const Piece &P, std::string Message, const Twine &Fix) {
    Tell({P.Begin, std::move(Message), P.Begin, P.End, true, Fix.str()});
  }

  ArrayRef<Piece> Pieces;
  StringRef Where;
  Report Tell;
  size_t At = 0;
  ParsedMark Found;
};

} // namespace

StringRef incc::nearest(StringRef Word, ArrayRef<StringRef> Known) {
  StringRef Best;
  // A third of the letters may be wrong, as in Clang's spelling correction.
  unsigned Least = (Word.size() + 2) / 3 + 1;
  for (StringRef Candidate : Known) {
    unsigned Distance = Word.edit_distance(Candidate, /*AllowReplacements=*/true, Least);
    if (Distance < Least) {
      Least = Distance;
      Best = Candidate;
    }
  }
  return Best;
}

ParsedMark incc::readClauses(ArrayRef<Piece> Pieces, StringRef Where, Report Tell) {
  return Reader(Pieces, Where, Tell).read();
}
