//===- History.cpp - Tracking loops through the passes that copy them -----===//

#include "History.h"

#include "Trips.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace incc;

namespace {

constexpr StringRef Vectorizer = "LoopVectorizePass";
constexpr StringRef Unroller = "LoopUnrollPass";
constexpr StringRef EarlyUnroller = "LoopFullUnrollPass";
/// These passes copy a loop for the case that a check before it fails.
constexpr StringRef Versioners[] = {"LoopLoadEliminationPass", "LoopVersioningLICMPass"};

using Place = std::tuple<const DISubprogram *, unsigned, unsigned>;

Place placeOf(const Loop &L) {
  const DILocation *At = startOf(L);
  return At ? Place(At->getScope()->getSubprogram(), At->getLine(), At->getColumn())
            : Place(nullptr, 0, 0);
}

bool versions(StringRef Pass) { return is_contained(Versioners, Pass); }

/// The step of the canonical induction variable in a vectorised loop: the number of iterations of
/// the original loop per trip. 0 if it was not found.
struct Step {
  uint64_t Iterations = 0;
  bool Scalable = false;
};

std::optional<uint64_t> constant(const Value *V) {
  const auto *C = dyn_cast<ConstantInt>(V);
  return C && C->getValue().getActiveBits() <= 32 ? std::optional<uint64_t>(C->getZExtValue())
                                                  : std::nullopt;
}

bool isVscale(const Value *V) {
  const auto *Call = dyn_cast<IntrinsicInst>(V);
  return Call && Call->getIntrinsicID() == Intrinsic::vscale;
}

/// Returns the value of a constant or of a constant multiple of vscale.
Step amount(const Value *V) {
  if (auto Fixed = constant(V))
    return {*Fixed, false};
  if (isVscale(V))
    return {1, true};
  const auto *Binary = dyn_cast<BinaryOperator>(V);
  if (!Binary || !isVscale(Binary->getOperand(0)))
    return {};
  auto Times = constant(Binary->getOperand(1));
  if (!Times || !*Times)
    return {};
  if (Binary->getOpcode() == Instruction::Mul)
    return {*Times, true};
  if (Binary->getOpcode() == Instruction::Shl && *Times < 16)
    return {uint64_t(1) << *Times, true};
  return {};
}

/// Returns the step of the vectoriser's induction variable, which is the first phi in the header.
Step stepOf(const Loop &L) {
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return {};
  for (const PHINode &Phi : L.getHeader()->phis()) {
    if (!Phi.getType()->isIntegerTy())
      continue;
    const auto *Next = dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(Latch));
    if (!Next || Next->getOpcode() != Instruction::Add || Next->getOperand(0) != &Phi)
      continue;
    return amount(Next->getOperand(1));
  }
  return {};
}

/// Returns true if control can pass from one loop to another.
bool leadsTo(const LoopInfo &Info, const Loop &From, const Loop &To) {
  return is_contained(headersAround(Info, From, false), To.getHeader());
}

} // namespace

const DILocation *incc::startOf(const Loop &L) { return L.getStartLoc().get(); }

SmallVector<const BasicBlock *, 8> incc::headersAround(const LoopInfo &Info, const Loop &L,
                                                       bool Backward) {
  SmallVector<const BasicBlock *, 8> Found;
  SmallVector<const BasicBlock *, 16> Waiting;
  SmallPtrSet<const BasicBlock *, 16> Seen;
  auto Visit = [&](const BasicBlock *B) {
    // Stop at headers of enclosing loops, which lead to their next iteration.
    if (L.contains(B) || !Seen.insert(B).second ||
        (Info.isLoopHeader(B) && Info.getLoopFor(B)->contains(&L)))
      return;
    Waiting.push_back(B);
  };
  if (Backward) {
    for (const BasicBlock *B : predecessors(L.getHeader()))
      Visit(B);
  } else {
    SmallVector<BasicBlock *, 4> Exits;
    L.getUniqueExitBlocks(Exits);
    for (const BasicBlock *B : Exits)
      Visit(B);
  }
  for (size_t I = 0; I < Waiting.size(); ++I) {
    const BasicBlock *B = Waiting[I];
    if (Info.isLoopHeader(B))
      Found.push_back(B);
    if (Backward)
      for (const BasicBlock *Next : predecessors(B))
        Visit(Next);
    else
      for (const BasicBlock *Next : successors(B))
        Visit(Next);
  }
  return Found;
}

bool History::follows(StringRef Pass) {
  return Pass == Vectorizer || Pass == Unroller || Pass == EarlyUnroller || versions(Pass);
}

void History::unrolledEarly(const LoopRemark &Remark) {
  if (Remark.Kind != LoopRemark::Unrolled)
    return;
  Loops Now(*const_cast<Function *>(Remark.Header->getParent()));
  if (const Loop *L = Now.Info.getLoopFor(Remark.Header))
    UnrolledEarly.insert(placeOf(*L));
}

bool History::isUnrolledEarly(const Loop &L) const { return UnrolledEarly.count(placeOf(L)); }

void History::giveUp(Function &F) { Functions[&F].Lost = true; }

History::Known *History::find(OfFunction &Of, const BasicBlock *Header) {
  for (Known &K : Of.Loops)
    if (K.Header == Header)
      return &K;
  return nullptr;
}

void History::capture(Function &F, OfFunction &Of) {
  Of.Begun = true;
  Loops Now(F);
  if (Now.Info.empty())
    return;
  Evolution Evolves(F, Now);
  for (Loop *L : Now.Info.getLoopsInPreorder()) {
    LoopFacts Facts;
    Facts.Source = Sources.size();
    Facts.Iterations = isUnrolledEarly(*L) ? 0 : 1;
    Sources.push_back(Evolves.trips(*L));
    Of.Loops.push_back({WeakVH(L->getHeader()), L->getLoopID(), Facts});
  }
}

void History::refresh(const LoopInfo &Info, OfFunction &Of) {
  SmallPtrSet<const BasicBlock *, 16> Headers;
  for (const Loop *L : const_cast<LoopInfo &>(Info).getLoopsInPreorder())
    Headers.insert(L->getHeader());
  for (const Loop *L : const_cast<LoopInfo &>(Info).getLoopsInPreorder()) {
    MDNode *Id = L->getLoopID();
    if (Known *K = find(Of, L->getHeader())) {
      K->Id = Id;
      continue;
    }
    if (!Id)
      continue;
    // Clones share their metadata until their pass changes it, so accept only a unique match.
    Known *Moved = nullptr;
    bool Single = true;
    for (Known &K : Of.Loops)
      if (K.Id == Id && !Headers.count(cast_or_null<BasicBlock>(static_cast<Value *>(K.Header)))) {
        Single = !Moved;
        Moved = &K;
      }
    if (Moved && Single)
      Moved->Header = L->getHeader();
  }
}

void History::before(StringRef Pass, Function &F) {
  if (!follows(Pass))
    return;
  if (Pass == EarlyUnroller) {
    Listening = std::make_unique<RemarkScope>(
        F.getContext(), "loop-unroll", [this](const LoopRemark &Remark) { unrolledEarly(Remark); });
    return;
  }
  OfFunction &Of = Functions[&F];
  if (!Of.Begun) {
    capture(F, Of);
  } else if (!Of.Loops.empty()) {
    Loops Now(F);
    refresh(Now.Info, Of);
  }
  if (Of.Loops.empty() || versions(Pass))
    return;
  Listening = std::make_unique<RemarkScope>(
      F.getContext(), Pass == Vectorizer ? "loop-vectorize" : "loop-unroll",
      [this, &F](const LoopRemark &Remark) { handleRemark(Remark, F); });
}

SmallVector<const Loop *, 8> History::newIn(Loops &Now, OfFunction &Of) {
  SmallVector<const Loop *, 8> New;
  for (const Loop *L : Now.Info.getLoopsInPreorder())
    if (!find(Of, L->getHeader()))
      New.push_back(L);
  return New;
}

void History::after(StringRef Pass, Function &F) {
  if (!follows(Pass))
    return;
  Listening.reset();
  OfFunction &Of = Functions[&F];
  if (Pass == EarlyUnroller || Of.Loops.empty())
    return;
  Loops Now(F);
  if (versions(Pass))
    versioned(Of, newIn(Now, Of));
  refresh(Now.Info, Of);
  cloned(Of, newIn(Now, Of));
}

void History::handleRemark(const LoopRemark &Remark, Function &F) {
  OfFunction &Of = Functions[&F];
  if (Remark.Header->getParent() != &F || !find(Of, Remark.Header))
    return;
  Loops Now(F);
  SmallVector<const Loop *, 8> New = newIn(Now, Of);
  switch (Remark.Kind) {
  case LoopRemark::Vectorized:
    vectorized(Remark, Now, Of, New);
    break;
  case LoopRemark::Unrolled:
    unrolled(Remark, Now, Of, New);
    break;
  case LoopRemark::Peeled:
    find(Of, Remark.Header)->Facts.Peeled += Remark.Copies;
    break;
  }
}

void History::add(OfFunction &Of, const Loop &L, const LoopFacts &Facts) {
  Of.Loops.push_back({WeakVH(L.getHeader()), L.getLoopID(), Facts});
}

void History::vectorized(const LoopRemark &Remark, const Loops &Now, OfFunction &Of,
                         ArrayRef<const Loop *> New) {
  const LoopFacts Before = find(Of, Remark.Header)->Facts;
  for (const Loop *L : New) {
    // The second of two loops is the epilogue: it runs the remainder of the first.
    bool Body = none_of(
        New, [&](const Loop *Other) { return Other != L && leadsTo(Now.Info, *Other, *L); });
    LoopFacts Facts = Before;
    Step Step = stepOf(*L);
    if (Body) {
      Facts.Kind =
          Remark.Width > 1 || Remark.Scalable ? LoopKind::VectorBody : LoopKind::Interleaved;
      Facts.Width = Remark.Width;
      Facts.Interleave = Remark.Copies;
      Facts.Scalable = Remark.Scalable;
      // If the remark and the induction variable disagree, trust neither.
      uint64_t Expected = uint64_t(Remark.Width) * Remark.Copies;
      bool Agree =
          !Step.Iterations || (Step.Iterations == Expected && Step.Scalable == Remark.Scalable);
      Facts.Iterations = Agree ? Before.Iterations * Expected : 0;
    } else {
      Facts.Kind = LoopKind::Epilogue;
      Facts.Width = std::max<uint64_t>(Step.Iterations, 1);
      Facts.Scalable = Step.Scalable;
      Facts.Iterations = Before.Iterations * Step.Iterations;
    }
    add(Of, *L, Facts);
  }
  find(Of, Remark.Header)->Facts.Kind = LoopKind::Scalar;
}

void History::unrolled(const LoopRemark &Remark, const Loops &Now, OfFunction &Of,
                       ArrayRef<const Loop *> New) {
  const LoopFacts Before = find(Of, Remark.Header)->Facts;
  // The remainder of an outer loop contains copies of the loops in it.
  if (Now.Info.getLoopFor(Remark.Header)->isInnermost())
    for (const Loop *L : New) {
      LoopFacts Facts = Before;
      Facts.Kind = LoopKind::UnrollRest;
      add(Of, *L, Facts);
    }
  LoopFacts &Facts = find(Of, Remark.Header)->Facts;
  Facts.Unroll *= Remark.Copies;
  Facts.Iterations *= Remark.Copies;
}

void History::versioned(OfFunction &Of, ArrayRef<const Loop *> New) {
  // Both copies have the metadata of the original loop.
  for (const Loop *L : New)
    for (const Known &K : Of.Loops)
      if (K.Id && K.Id == L->getLoopID()) {
        LoopFacts Facts = K.Facts;
        Facts.Kind = LoopKind::Unversioned;
        add(Of, *L, Facts);
        break;
      }
}

void History::cloned(OfFunction &Of, ArrayRef<const Loop *> New) {
  SmallVector<std::pair<const Loop *, LoopFacts>, 4> Added;
  for (const Loop *L : New) {
    const LoopFacts *Facts = nullptr;
    bool Alike = true;
    for (const Known &K : Of.Loops)
      if (K.Header && K.Id && K.Id == L->getLoopID()) {
        Alike &= !Facts || *Facts == K.Facts;
        Facts = &K.Facts;
      }
    if (Facts && Alike)
      Added.push_back({L, *Facts});
  }
  for (const auto &[L, Facts] : Added)
    add(Of, *L, Facts);
}

std::optional<LoopFacts> History::facts(const Loop &L) {
  const Function *F = L.getHeader()->getParent();
  auto Found = Functions.find(F);
  if (Lost || (Found != Functions.end() && Found->second.Lost))
    return std::nullopt;
  if (Found == Functions.end() || !Found->second.Begun) {
    LoopFacts Facts;
    Facts.Source = Sources.size();
    Facts.Iterations = isUnrolledEarly(L) ? 0 : 1;
    Sources.push_back({});
    return Facts;
  }
  Known *K = find(Found->second, L.getHeader());
  return K ? std::optional<LoopFacts>(K->Facts) : std::nullopt;
}
