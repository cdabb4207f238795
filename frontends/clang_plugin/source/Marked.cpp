//===- Marked.cpp - Finding the statement that a pragma marks -------------===//
//
// The preprocessor sees a pragma when it lexes it. For the bodies of member
// functions, that is long before they are parsed. Locations are therefore
// compared after parsing: this visitor descends to the innermost declaration or
// statement that contains the pragma, and looks for the first one after the
// pragma there. In a template that is the pattern, not an instantiation.
//
//===----------------------------------------------------------------------===//

#include "Marked.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtObjC.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using namespace incc;

const Stmt *incc::loopOf(const Stmt *S) {
  while (S) {
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, ObjCForCollectionStmt>(S))
      return S;
    if (const auto *Attributed = dyn_cast<AttributedStmt>(S))
      S = Attributed->getSubStmt();
    else if (const auto *Label = dyn_cast<LabelStmt>(S))
      S = Label->getSubStmt();
    else if (const auto *Directive = dyn_cast<OMPExecutableDirective>(S))
      S = Directive->hasAssociatedStmt() ? Directive->getInnermostCapturedStmt()->getCapturedStmt()
                                         : nullptr;
    else if (const auto *Captured = dyn_cast<CapturedStmt>(S))
      S = Captured->getCapturedStmt();
    else
      return nullptr;
  }
  return nullptr;
}

namespace {

class Finder : public RecursiveASTVisitor<Finder> {
  using Base = RecursiveASTVisitor<Finder>;

public:
  Finder(const SourceManager &Sources, SourceLocation Pragma) : Sources(Sources), Pragma(Pragma) {}

  SourceRange found() const { return NextMarked.isValid() ? NextMarked : Innermost; }

  bool TraverseDecl(Decl *D) {
    if (!D || D->isImplicit())
      return true;
    if (isa<TranslationUnitDecl>(D))
      return Base::TraverseDecl(D);
    if (!contains(D->getSourceRange())) {
      const Decl *Declared = D;
      // extern "C" before a single declaration.
      if (const auto *Linkage = dyn_cast<LinkageSpecDecl>(D);
          Linkage && !Linkage->hasBraces() && !Linkage->decls_empty())
        Declared = *Linkage->decls_begin();
      const FunctionDecl *F = Declared->getAsFunction();
      passBy(D->getBeginLoc(),
             F && F->doesThisDeclarationHaveABody() ? F->getSourceRange() : SourceRange());
      return true;
    }
    // A member function of a local class in a loop does not run as part of that loop.
    return inside(isa<FunctionDecl>(D) ? SourceRange() : Around,
                  [&] { return Base::TraverseDecl(D); });
  }

  bool TraverseStmt(Stmt *S, DataRecursionQueue * = nullptr) {
    if (!S)
      return true;
    const Stmt *Loop = loopOf(S);
    SourceRange Range = S->getSourceRange();
    // A directive's own range ends at the end of its line.
    if (Loop && isa<OMPExecutableDirective>(S))
      Range.setEnd(Loop->getEndLoc());
    if (!contains(Range)) {
      passBy(Range.getBegin(), Loop ? Loop->getSourceRange() : SourceRange());
      return true;
    }
    SourceRange Now = Loop ? Loop->getSourceRange() : isa<LambdaExpr>(S) ? SourceRange() : Around;
    return inside(Now, [&] { return Base::TraverseStmt(S); });
  }

private:
  template <typename Descend> bool inside(SourceRange Now, Descend Down) {
    SourceRange Outside = Around;
    Around = Now;
    if (++Depth > Deepest) {
      // Statements that follow at an outer level come after the end of this one.
      Deepest = Depth;
      Next = {};
      NextMarked = {};
      Innermost = Now;
    }
    bool GoOn = Down();
    --Depth;
    Around = Outside;
    return GoOn;
  }

  /// Handles a declaration or statement that does not contain the pragma. It is the marked one if
  /// it is the first after the pragma.
  void passBy(SourceLocation Begin, SourceRange Marked) {
    if (Depth != Deepest || Begin.isInvalid() || !before(Pragma, Begin) ||
        (Next.isValid() && !before(Begin, Next)))
      return;
    Next = Begin;
    NextMarked = Marked;
  }

  bool contains(SourceRange Range) const {
    return Range.isValid() && before(Range.getBegin(), Pragma) && before(Pragma, Range.getEnd());
  }

  bool before(SourceLocation A, SourceLocation B) const {
    return Sources.isBeforeInTranslationUnit(A, B);
  }

  const SourceManager &Sources;
  SourceLocation Pragma, Next;
  SourceRange NextMarked, Around, Innermost;
  unsigned Depth = 0, Deepest = 0;
};

} // namespace

SourceRange incc::markedBy(ASTContext &Context, SourceLocation Pragma) {
  Finder Find(Context.getSourceManager(), Pragma);
  Find.TraverseDecl(Context.getTranslationUnitDecl());
  return Find.found();
}
