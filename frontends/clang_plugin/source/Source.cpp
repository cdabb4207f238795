//===- Source.cpp - Marks in sources, read by Clang ------------------------===//
//
// A plugin for Clang (-fplugin=, or -Xclang -load -Xclang) that understands
//
//   #pragma incc analyze [name(x)] [mcpu(y)] [expect(cycles <= 2.5)]
//   [[incc::analyze]], [[incc::analyze(name(x) expect(cycles <= 2.5))]]
//
// on loops and functions. It changes nothing of the code, neither the syntax
// tree. What is marked and what is wrong with marks goes into a table, into the
// file that the environment variable INCC_MARK_TABLE names; what is wrong is a
// warning of Clang's as well.
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

/// The version of the table's format; the reader refuses others (marks_table.py).
constexpr int TableVersion = 1;

constexpr const char *PragmaWords = "'#pragma incc analyze'";
constexpr const char *AttributeWords = "'incc::analyze'";

/// A mark as it was read. What it marks is a function (`Of`), a statement (`Range`), or to be found
/// behind the pragma.
struct Marking {
  SourceLocation At;
  Said What;
  const Decl *Of = nullptr;
  SourceRange Range;
};

/// What is known of a translation unit so far.
class Marks {
public:
  explicit Marks(CompilerInstance &Compiler)
      : Compiler(Compiler), Diagnostics(Compiler.getDiagnostics()),
        Sources(Compiler.getSourceManager()),
        Warning(Diagnostics.getCustomDiagID(DiagnosticsEngine::Warning, "%0 [-Wincc]")) {}

  const ASTContext &context() const { return Compiler.getASTContext(); }

  void add(Marking Mark) { Found.push_back(std::move(Mark)); }

  void tell(Problem What) {
    if (Sources.isInSystemHeader(What.At))
      return;
    CharSourceRange About;
    if (What.Begin.isValid())
      About = CharSourceRange::getCharRange(What.Begin, What.End);
    bool Insert = What.Begin == What.End;
    // What is written elsewhere, in a macro or a string with escapes, cannot be mended here.
    bool Fixed = What.Fixed && What.Begin.isFileID() && What.End.isFileID();
    // -w is not for warnings that are no part of Clang, which are not told from errors either.
    if (!Diagnostics.getIgnoreAllWarnings()) {
      DiagnosticBuilder Builder = Diagnostics.Report(What.At, Warning);
      Builder << What.Message;
      if (About.isValid() && !Insert)
        Builder << About;
      if (Fixed && Insert)
        Builder << FixItHint::CreateInsertion(What.Begin, What.Fix);
      else if (Fixed)
        Builder << FixItHint::CreateReplacement(About, What.Fix);
    }
    PresumedLoc At = placed(What.At);
    if (At.isInvalid())
      return;
    json::Object Entry{{"file", json::fixUTF8(At.getFilename())},
                       {"line", At.getLine()},
                       {"column", At.getColumn()},
                       {"message", json::fixUTF8(What.Message)}};
    PresumedLoc End = placed(What.End);
    if (What.Begin == What.At && What.At.isFileID() && End.isValid() &&
        End.getLine() == At.getLine()) {
      Entry["end_column"] = End.getColumn();
      if (Fixed)
        Entry["fix"] = json::fixUTF8(What.Fix);
    }
    Problems.push_back(std::move(Entry));
  }

  /// What a pragma marks is known when everything is parsed.
  json::Value table(ASTContext &Context) {
    json::Array All;
    llvm::StringSet<> Known;
    for (const Marking &Mark : Found) {
      SourceRange Range = Mark.Range;
      if (Mark.Of) {
        const Decl *Definition = definition(Mark.Of);
        // Only declared here.
        if (!Definition)
          continue;
        Range = Definition->getSourceRange();
      } else if (Range.isInvalid()) {
        Range = markedBy(Context, Mark.At);
        if (Range.isInvalid()) {
          tell({Mark.At,
                std::string(PragmaWords) + " has to stand before a loop or function, or in a loop",
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
  /// Where something is for the user and for line tables: a macro's is where it is used.
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
    // The mark of a declaration in a header is about a definition elsewhere.
    if (At.isInvalid() || StringRef(At.getFilename()) != First.getFilename())
      At = First;
    json::Array Expected, Cores(Mark.What.Cores);
    for (const Condition &C : Mark.What.Expected) {
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
                        {"name", json::fixUTF8(Mark.What.Name)},
                        {"trip", json::fixUTF8(Mark.What.Trip)},
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

/// Of the translation unit that is compiled: the registry of attributes makes its objects itself.
std::weak_ptr<Marks> Current;

//===----------------------------------------------------------------------===//
// The pragma

class InccPragma : public PragmaHandler {
public:
  explicit InccPragma(std::shared_ptr<Marks> All) : PragmaHandler("incc"), All(std::move(All)) {}

  void HandlePragma(Preprocessor &PP, PragmaIntroducer Introducer, Token &First) override {
    auto Tell = [&](Problem What) { All->tell(std::move(What)); };
    std::vector<Piece> Pieces;
    Token Word;
    PP.LexUnexpandedToken(Word);
    std::string Directive = Word.is(tok::eod) ? "" : PP.getSpelling(Word);
    SourceLocation Begin = Word.getLocation(), End = endOf(PP, Word);
    Token Next = Word;
    // Conditions may have macros in them; what is around may not become one by accident.
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
        SourceLocation Behind = endOf(PP, First);
        Tell(
            {Behind, "expected 'analyze' behind '#pragma incc'", Behind, Behind, true, " analyze"});
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
    // That of a macro's token is not where it is used.
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

/// The tokens in the parentheses behind the name of an attribute. Clang has skipped them: it knows
/// no arguments of an attribute with a scope but its own, and would take these for expressions.
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
  unsigned Behind = 0, Depth = 0;
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
      // What is in a macro is where the macro is used.
      P.Begin = Name.isFileID() ? Next.getLocation() : Name;
      P.End = Name.isFileID() ? Next.getEndLoc() : Name;
      P.Gap = Next.isAtStartOfLine() ? 1 : Begin - Behind;
      P.Word = Next.is(tok::raw_identifier);
      Pieces.push_back(std::move(P));
    }
    Behind = Begin + Next.getLength();
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
                said(Attr, *All),
                isa<FunctionTemplateDecl>(D) ? D->getAsFunction() : D,
                {}});
    else
      misplaced(Attr, *All);
    // So that Clang does nothing with it.
    return false;
  }

  bool diagAppertainsToStmt(Sema &, const ParsedAttr &Attr, const Stmt *St) const override {
    auto All = Current.lock();
    if (!All)
      return false;
    if (const Stmt *Loop = loopOf(St))
      All->add({Attr.getLoc(), said(Attr, *All), nullptr, Loop->getSourceRange()});
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

  static Said said(const ParsedAttr &Attr, Marks &All) {
    return readClauses(argumentsOf(Attr, All.context()), AttributeWords,
                       [&](Problem What) { All.tell(std::move(What)); });
  }
};

//===----------------------------------------------------------------------===//
// The plugin

std::string write(const json::Value &Table, StringRef Path) {
  llvm::SmallString<128> Beside;
  int File;
  if (std::error_code Error = llvm::sys::fs::createUniqueFile(Path + ".%%%%%%%%", File, Beside))
    return Error.message();
  llvm::raw_fd_ostream Stream(File, /*shouldClose=*/true);
  Stream << Table << '\n';
  Stream.close();
  std::error_code Error = Stream.error();
  Stream.clear_error();
  if (!Error)
    Error = llvm::sys::fs::rename(Beside, Path);
  if (!Error)
    return "";
  llvm::sys::fs::remove(Beside);
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

FrontendPluginRegistry::Add<ReadMarks> Action("incc-marks", "marks of incc's in the source");
ParsedAttrInfoRegistry::Add<AnalyzeAttribute> Attribute("incc-analyze", "what incc is to analyse");

} // namespace
