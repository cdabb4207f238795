//===- Source.cpp - Clang plugin that reads marks in sources --------------===//
//
// A plugin for Clang (-fplugin=, or -Xclang -load -Xclang) that understands
//
//   #pragma incc analyze [name(x)] [mcpu(y)] [expect(cycles <= 2.5)]
//   [[incc::analyze]], [[incc::analyze(name(x) expect(cycles <= 2.5))]]
//
// on loops and functions. It changes neither the code nor the syntax tree. It
// writes the marks, and errors in them, to a table in the file that the
// environment variable INCC_MARK_TABLE names, and reports the errors as Clang's
// warnings, too.
//
//===----------------------------------------------------------------------===//

#include "Clauses.h"
#include "Marked.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclObjC.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <memory>
#include <tuple>

using namespace clang;
using namespace incc;
namespace json = llvm::json;

namespace {

/// The version of the table's format. The reader (marks_table.py) rejects other versions.
constexpr int TableVersion = 2;

constexpr const char *PragmaWords = "'#pragma incc analyze'";
constexpr const char *AttributeWords = "'incc::analyze'";

/// A parsed mark. It marks a function (`Marked`), a statement (`Range`), or whatever follows the
/// pragma.
struct Marking {
  SourceLocation At;
  ParsedMark Contents;
  const Decl *Marked = nullptr;
  SourceRange Range;
};

/// The marks and errors of a translation unit.
class Marks {
public:
  explicit Marks(CompilerInstance &Compiler)
      : Compiler(Compiler), Diagnostics(Compiler.getDiagnostics()),
        Sources(Compiler.getSourceManager()),
        Warning(Diagnostics.getCustomDiagID(DiagnosticsEngine::Warning, "%0 [-Wincc]")) {}

  const ASTContext &context() const { return Compiler.getASTContext(); }

  void add(Marking Mark) { Found.push_back(std::move(Mark)); }

  void tell(Problem Issue) {
    if (Sources.isInSystemHeader(Issue.At))
      return;
    CharSourceRange Range;
    if (Issue.Begin.isValid())
      Range = CharSourceRange::getCharRange(Issue.Begin, Issue.End);
    bool Insert = Issue.Begin == Issue.End;
    // Text that comes from a macro, or from a string with escapes, cannot be replaced here.
    bool Fixed = Issue.Fixed && Issue.Begin.isFileID() && Issue.End.isFileID();
    // Clang's -w does not cover custom warnings, which it does not distinguish from errors, so test
    // it here.
    if (!Diagnostics.getIgnoreAllWarnings()) {
      DiagnosticBuilder Builder = Diagnostics.Report(Issue.At, Warning);
      Builder << Issue.Message;
      if (Range.isValid() && !Insert)
        Builder << Range;
      if (Fixed && Insert)
        Builder << FixItHint::CreateInsertion(Issue.Begin, Issue.Fix);
      else if (Fixed)
        Builder << FixItHint::CreateReplacement(Range, Issue.Fix);
    }
    PresumedLoc At = placed(Issue.At);
    if (At.isInvalid())
      return;
    json::Object Entry{{"file", json::fixUTF8(At.getFilename())},
                       {"line", At.getLine()},
                       {"column", At.getColumn()},
                       {"message", json::fixUTF8(Issue.Message)}};
    PresumedLoc End = placed(Issue.End);
    if (Issue.Begin == Issue.At && Issue.At.isFileID() && End.isValid() &&
        End.getLine() == At.getLine()) {
      Entry["end_column"] = End.getColumn();
      if (Fixed)
        Entry["fix"] = json::fixUTF8(Issue.Fix);
    }
    Problems.push_back(std::move(Entry));
  }

  /// Returns the table. Call it after parsing: only then is it known which statement a pragma
  /// marks.
  json::Value table(ASTContext &Context) {
    json::Array All;
    llvm::StringSet<> Known;
    for (const Marking &Mark : Found) {
      SourceRange Range = Mark.Range;
      if (Mark.Marked) {
        const Decl *Definition = definition(Mark.Marked);
        // The function is only declared in this unit.
        if (!Definition)
          continue;
        Range = Definition->getSourceRange();
      } else if (Range.isInvalid()) {
        Range = markedBy(Context, Mark.At);
        if (Range.isInvalid()) {
          tell({Mark.At,
                std::string(PragmaWords) +
                    " must be placed before a loop or function, or inside a loop",
                {},
                {},
                false,
                ""});
          continue;
        }
      }
      json::Value Entry = entry(Mark, Range);
      // A header may be included several times.
      std::string Text;
      llvm::raw_string_ostream(Text) << Entry;
      if (Known.insert(Text).second)
        All.push_back(std::move(Entry));
    }
    return json::Object{{"version", TableVersion},
                        {"clang", LLVM_VERSION_MAJOR},
                        {"marks", std::move(All)},
                        {"problems", std::move(Problems)}};
  }

private:
  /// Returns a location as the user and line tables see it: code from a macro is where the macro is
  /// used.
  PresumedLoc placed(SourceLocation At) const {
    return Sources.getPresumedLoc(Sources.getExpansionLoc(At));
  }

  static const Decl *definition(const Decl *Of) {
    if (const auto *F = dyn_cast<FunctionDecl>(Of))
      return F->getDefinition();
    for (const Decl *Again : Of->redecls())
      if (Again->hasBody())
        return Again;
    return nullptr;
  }

  json::Value entry(const Marking &Mark, SourceRange Range) const {
    PresumedLoc First = placed(Range.getBegin()), At = placed(Mark.At);
    PresumedLoc Last = Sources.getPresumedLoc(Sources.getExpansionRange(Range.getEnd()).getEnd());
    // A mark on a declaration in a header describes a definition in another file.
    if (At.isInvalid() || StringRef(At.getFilename()) != First.getFilename())
      At = First;
    json::Array Expected, Cores(Mark.Contents.Cores);
    for (const Condition &C : Mark.Contents.Expected) {
      PresumedLoc Place = placed(C.Begin);
      Expected.push_back(json::Object{{"condition", json::fixUTF8(C.Text)},
                                      {"line", Place.getLine()},
                                      {"column", Place.getColumn()}});
    }
    return json::Object{{"file", json::fixUTF8(First.getFilename())},
                        {"line", At.getLine()},
                        {"column", At.getColumn()},
                        {"first_line", First.getLine()},
                        {"first_column", First.getColumn()},
                        {"last_line", Last.isValid() ? Last.getLine() : First.getLine()},
                        {"name", json::fixUTF8(Mark.Contents.Name)},
                        {"trip", json::fixUTF8(Mark.Contents.Trip)},
                        {"let", json::fixUTF8(Mark.Contents.Let)},
                        {"mcpu", std::move(Cores)},
                        {"expect", std::move(Expected)}};
  }

  CompilerInstance &Compiler;
  DiagnosticsEngine &Diagnostics;
  const SourceManager &Sources;
  unsigned Warning;
  std::vector<Marking> Found;
  json::Array Problems;
};

/// The marks of the current translation unit. The registry of attributes creates its objects
/// itself, so they cannot be passed to it.
std::weak_ptr<Marks> Current;

//===----------------------------------------------------------------------===//
// The pragma

class InccPragma : public PragmaHandler {
public:
  explicit InccPragma(std::shared_ptr<Marks> All) : PragmaHandler("incc"), All(std::move(All)) {}

  void HandlePragma(Preprocessor &PP, PragmaIntroducer Introducer, Token &First) override {
    auto Tell = [&](Problem Issue) { All->tell(std::move(Issue)); };
    std::vector<Piece> Pieces;
    Token Word;
    PP.LexUnexpandedToken(Word);
    std::string Directive = Word.is(tok::eod) ? "" : PP.getSpelling(Word);
    SourceLocation Begin = Word.getLocation(), End = endOf(PP, Word);
    Token Next = Word;
    // Expand macros only in conditions: other words of the mark must not be replaced by a macro of
    // the same name.
    for (unsigned Depth = 0; Next.isNot(tok::eod);) {
      if (Depth)
        PP.Lex(Next);
      else
        PP.LexUnexpandedToken(Next);
      if (Next.is(tok::eod))
        break;
      Piece P;
      P.Text = PP.getSpelling(Next);
      P.Begin = Next.getLocation();
      P.End = endOf(PP, Next);
      P.Gap = gap(PP.getSourceManager(), Pieces, Next);
      P.Word = Next.isAnyIdentifier() || Next.getIdentifierInfo();
      bool OfCondition = Pieces.size() && Pieces.back().Text == "expect";
      if (Next.is(tok::l_paren) && (Depth || OfCondition))
        ++Depth;
      else if (Next.is(tok::r_paren) && Depth)
        --Depth;
      Pieces.push_back(std::move(P));
    }
    if (Directive != "analyze") {
      const llvm::StringRef Known[] = {"analyze"};
      if (Directive.empty()) {
        SourceLocation NameEnd = endOf(PP, First);
        Tell({NameEnd, "expected 'analyze' after '#pragma incc'", NameEnd, NameEnd, true,
              " analyze"});
        return;
      }
      bool Close = !nearest(Directive, Known).empty();
      Tell({Begin,
            "unknown '#pragma incc " + Directive + "'" + (Close ? "; did you mean 'analyze'?" : ""),
            Begin, End, Close, "analyze"});
      if (!Close)
        return;
    }
    All->add({Introducer.Loc, readClauses(Pieces, PragmaWords, Tell), nullptr, {}});
  }

private:
  static SourceLocation endOf(Preprocessor &PP, const Token &Of) {
    // The end of a token from a macro is not where the macro is used.
    return Of.getLocation().isFileID() ? PP.getLocForEndOfToken(Of.getLocation())
                                       : Of.getLocation();
  }

  static unsigned gap(const SourceManager &Sources, const std::vector<Piece> &Before,
                      const Token &Next) {
    if (Before.empty() || !Next.hasLeadingSpace())
      return 0;
    SourceLocation End = Before.back().End, Begin = Next.getLocation();
    if (End.isFileID() && Begin.isFileID() && Sources.getFileID(End) == Sources.getFileID(Begin)) {
      unsigned From = Sources.getFileOffset(End), To = Sources.getFileOffset(Begin);
      StringRef Text = Sources.getBufferData(Sources.getFileID(Begin));
      if (From < To && Text.slice(From, To).find('\n') == StringRef::npos)
        return To - From;
    }
    return 1;
  }

  std::shared_ptr<Marks> All;
};

//===----------------------------------------------------------------------===//
// The attribute

/// Returns the tokens in the parentheses after an attribute's name. Clang has skipped them: it
/// supports arguments only for its own scoped attributes, and would parse these as expressions.
std::vector<Piece> argumentsOf(const ParsedAttr &Attr, const ASTContext &Context) {
  const SourceManager &Sources = Context.getSourceManager();
  SourceLocation Name = Attr.getRange().getEnd();
  FileID File;
  unsigned Offset;
  std::tie(File, Offset) = Sources.getDecomposedSpellingLoc(Name);
  bool Invalid = false;
  StringRef Text = Sources.getBufferData(File, &Invalid);
  if (Invalid)
    return {};
  SourceLocation Start = Sources.getLocForStartOfFile(File);
  Lexer Lex(Start, Context.getLangOpts(), Text.begin(), Text.begin() + Offset, Text.end());
  std::vector<Piece> Pieces;
  unsigned PreviousEnd = 0, Depth = 0;
  for (;;) {
    Token Next;
    bool Last = Lex.LexFromRawLexer(Next);
    unsigned Begin = Sources.getFileOffset(Next.getLocation());
    bool IsName = Begin == Offset;
    Depth += Next.is(tok::l_paren);
    Depth -= Next.is(tok::r_paren);
    if (!IsName && (Last || !Depth))
      break;
    bool Opens = Depth == 1 && Next.is(tok::l_paren);
    if (!IsName && !Opens) {
      Piece P;
      P.Text = Lexer::getSpelling(Next, Sources, Context.getLangOpts());
      // Text in a macro is located where the macro is used.
      P.Begin = Name.isFileID() ? Next.getLocation() : Name;
      P.End = Name.isFileID() ? Next.getEndLoc() : Name;
      P.Gap = Next.isAtStartOfLine() ? 1 : Begin - PreviousEnd;
      P.Word = Next.is(tok::raw_identifier);
      Pieces.push_back(std::move(P));
    }
    PreviousEnd = Begin + Next.getLength();
  }
  return Pieces;
}

struct AnalyzeAttribute : public ParsedAttrInfo {
  AnalyzeAttribute() {
#if LLVM_VERSION_MAJOR >= 17
    static constexpr Spelling Ways[] = {{ParsedAttr::AS_CXX11, "incc::analyze"},
                                        {ParsedAttr::AS_C23, "incc::analyze"}};
#else
    static constexpr Spelling Ways[] = {{ParsedAttr::AS_CXX11, "incc::analyze"},
                                        {ParsedAttr::AS_C2x, "incc::analyze"}};
#endif
    Spellings = Ways;
  }

  bool diagAppertainsToDecl(Sema &, const ParsedAttr &Attr, const Decl *D) const override {
    auto All = Current.lock();
    if (!All)
      return false;
    if (isa<FunctionDecl, FunctionTemplateDecl, ObjCMethodDecl>(D))
      All->add({Attr.getLoc(),
                parse(Attr, *All),
                isa<FunctionTemplateDecl>(D) ? D->getAsFunction() : D,
                {}});
    else
      misplaced(Attr, *All);
    // Returning false makes Clang ignore the attribute.
    return false;
  }

  bool diagAppertainsToStmt(Sema &, const ParsedAttr &Attr, const Stmt *St) const override {
    auto All = Current.lock();
    if (!All)
      return false;
    if (const Stmt *Loop = loopOf(St))
      All->add({Attr.getLoc(), parse(Attr, *All), nullptr, Loop->getSourceRange()});
    else
      misplaced(Attr, *All);
    return false;
  }

private:
  static void misplaced(const ParsedAttr &Attr, Marks &All) {
    All.tell({Attr.getLoc(),
              std::string(AttributeWords) + " attribute only applies to functions and loops",
              {},
              {},
              false,
              ""});
  }

  static ParsedMark parse(const ParsedAttr &Attr, Marks &All) {
    return readClauses(argumentsOf(Attr, All.context()), AttributeWords,
                       [&](Problem Issue) { All.tell(std::move(Issue)); });
  }
};

//===----------------------------------------------------------------------===//
// The plugin

std::string write(const json::Value &Table, StringRef Path) {
  llvm::SmallString<128> Temporary;
  int File;
  if (std::error_code Error = llvm::sys::fs::createUniqueFile(Path + ".%%%%%%%%", File, Temporary))
    return Error.message();
  llvm::raw_fd_ostream Stream(File, /*shouldClose=*/true);
  Stream << Table << '\n';
  Stream.close();
  std::error_code Error = Stream.error();
  Stream.clear_error();
  if (!Error)
    Error = llvm::sys::fs::rename(Temporary, Path);
  if (!Error)
    return "";
  llvm::sys::fs::remove(Temporary);
  return Error.message();
}

class Consumer : public ASTConsumer {
public:
  explicit Consumer(std::shared_ptr<Marks> All) : All(std::move(All)) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    json::Value Table = All->table(Context);
    const char *Path = std::getenv("INCC_MARK_TABLE");
    if (!Path || !*Path)
      return;
    std::string Problem = write(Table, Path);
    if (!Problem.empty())
      llvm::errs() << "warning: incc_source: " << Path << ": " << Problem << '\n';
  }

private:
  std::shared_ptr<Marks> All;
};

class ReadMarks : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler, StringRef) override {
    auto All = std::make_shared<Marks>(Compiler);
    Current = All;
    Compiler.getPreprocessor().AddPragmaHandler(new InccPragma(All));
    return std::make_unique<Consumer>(All);
  }

  bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override {
    return true;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }
};

FrontendPluginRegistry::Add<ReadMarks> Action("incc-marks", "read incc's marks in sources");
ParsedAttrInfoRegistry::Add<AnalyzeAttribute> Attribute("incc-analyze",
                                                        "mark code for incc to analyse");

} // namespace
