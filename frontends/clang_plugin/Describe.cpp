//===- Describe.cpp - Table of a module's innermost loops -----------------===//

#include "Describe.h"

#include "Trips.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <limits>
#include <map>
#include <tuple>

using namespace llvm;
using namespace incc;

namespace {

StringRef nameOf(LoopKind Kind) {
  switch (Kind) {
  case LoopKind::Plain:
    return "plain";
  case LoopKind::VectorBody:
    return "vector-body";
  case LoopKind::Interleaved:
    return "interleaved";
  case LoopKind::Epilogue:
    return "epilogue";
  case LoopKind::Scalar:
    return "scalar";
  case LoopKind::UnrollRest:
    return "unroll-rest";
  case LoopKind::Unversioned:
    return "unversioned";
  }
  return "unknown";
}

/// An innermost loop and its entry in the table. `Of` is the number of the loop that `Role` relates
/// to, -1 if there is none.
struct Described {
  unsigned Id;
  Loop *L;
  std::optional<LoopFacts> Facts;
  StringRef Role = "";
  int Of = -1;
  bool Instead = false;
};

/// Sets the role of each loop among the loops that one source loop became. core/python/roles.py
/// applies the same rules to loops that are known only by their code.
void findRoles(const Loops &Now, MutableArrayRef<Described> All) {
  MapVector<unsigned, SmallVector<Described *, 4>> Groups;
  for (Described &D : All)
    if (D.Facts)
      Groups[D.Facts->Source].push_back(&D);
  for (auto &[Source, Members] : Groups) {
    // If the iterations of one loop are unknown, the group's main loop is unknown.
    if (any_of(Members, [](Described *D) { return !D->Facts->Iterations; }))
      continue;
    // A vector loop comes first, because a scalar loop may be unrolled to more iterations than the
    // vector loop.
    auto Weight = [](const Described *D) {
      LoopKind Kind = D->Facts->Kind;
      bool OfVectorizer = Kind == LoopKind::VectorBody || Kind == LoopKind::Interleaved;
      return std::tuple(Kind != LoopKind::Unversioned, OfVectorizer, D->Facts->Iterations);
    };
    auto Most = Weight(Members.front());
    for (Described *D : Members)
      Most = std::max(Most, Weight(D));
    SmallVector<Described *, 2> Main;
    for (Described *D : Members)
      if (Weight(D) == Most) {
        D->Role = "main";
        Main.push_back(D);
      }
    // A vector loop leaves fewer iterations than one of its steps, however far it was unrolled
    // afterwards; or one step, if the last step must run in the scalar loop.
    uint64_t LeftOver = std::numeric_limits<uint64_t>::max();
    for (Described *D : Members)
      if (uint64_t Step = uint64_t(D->Facts->Width) * D->Facts->Interleave;
          Step > 1 && !D->Facts->Scalable)
        LeftOver = std::min(LeftOver, Step);
    for (Described *D : Members) {
      if (!D->Role.empty())
        continue;
      auto Before = headersAround(Now.Info, *D->L, true);
      auto After = headersAround(Now.Info, *D->L, false);
      auto MainIn = [&](ArrayRef<const BasicBlock *> Headers) -> Described * {
        for (const BasicBlock *Header : Headers)
          for (Described *M : Main)
            if (M->L->getHeader() == Header)
              return M;
        return nullptr;
      };
      Described *Earlier = MainIn(Before), *Later = MainIn(After);
      // A scalar loop that runs more iterations per trip than vectors ever leave was unrolled for
      // the case without vectors, wherever control comes from.
      bool TakesTooMuch = D->Facts->Kind == LoopKind::Scalar && D->Facts->Iterations > LeftOver;
      if (Earlier && !TakesTooMuch) {
        D->Role = "remainder";
        D->Of = Earlier->Id;
        D->Instead = !Now.Dominators.dominates(Earlier->L->getHeader(), D->L->getHeader());
      } else if (Later && !TakesTooMuch) {
        D->Role = "prologue";
        D->Of = Later->Id;
      } else {
        D->Role = "fallback";
        D->Of = (Earlier ? Earlier : Main.front())->Id;
      }
    }
  }
  // A loop at the source location of an outer loop is unrelated to the loops inside of that outer
  // loop.
  for (Described &D : All) {
    const DILocation *Place = startOf(*D.L);
    if (!Place)
      continue;
    for (Described &Inner : All)
      for (const Loop *Around = Inner.L->getParentLoop(); Around && D.Role != "outer";
           Around = Around->getParentLoop())
        if (&Inner != &D && startOf(*Around) == Place && startOf(*Inner.L) != Place) {
          D.Role = "outer";
          D.Of = Inner.Id;
          D.Instead = false;
        }
  }
}

json::Value place(const DILocation *At) {
  StringRef Function = At->getScope()->getSubprogram()->getLinkageName();
  if (Function.empty())
    Function = At->getScope()->getSubprogram()->getName();
  return json::Object{{"file", json::fixUTF8(At->getFilename())},
                      {"line", At->getLine()},
                      {"column", At->getColumn()},
                      {"function", json::fixUTF8(Function)}};
}

/// Returns the loop's source location and those of the calls through which it was inlined,
/// innermost first.
json::Array places(const Loop &L) {
  json::Array Found;
  for (const DILocation *At = startOf(L); At; At = At->getInlinedAt())
    Found.push_back(place(At));
  return Found;
}

uint64_t fixedBytes(const DataLayout &Layout, Type *Scalar) {
  return Layout.getTypeStoreSize(Scalar).getKnownMinValue();
}

/// Returns the loads and stores of a loop, with one entry for all accesses that are alike. `step`
/// is null if it is not constant, and for gathers and scatters.
json::Array streams(const Loop &L, ScalarEvolution &SE) {
  const DataLayout &Layout = L.getHeader()->getModule()->getDataLayout();
  using Key = std::tuple<bool, uint64_t, uint64_t, bool, bool, int64_t>;
  std::map<Key, unsigned> Counted;
  for (const BasicBlock *B : L.blocks())
    for (const Instruction &I : *B) {
      const Value *Address = getLoadStorePointerOperand(&I);
      bool Store = isa<StoreInst>(I);
      Type *Accessed = Address ? getLoadStoreType(const_cast<Instruction *>(&I)) : nullptr;
      if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
        switch (Call->getIntrinsicID()) {
        case Intrinsic::masked_load:
        case Intrinsic::masked_gather:
          Accessed = Call->getType();
          Address = Call->getArgOperand(0);
          break;
        case Intrinsic::masked_store:
        case Intrinsic::masked_scatter:
          Accessed = Call->getArgOperand(0)->getType();
          Address = Call->getArgOperand(1);
          Store = true;
          break;
        default:
          break;
        }
      }
      if (!Address || !Accessed->isSized())
        continue;
      auto *Vector = dyn_cast<VectorType>(Accessed);
      uint64_t Element = fixedBytes(Layout, Accessed->getScalarType());
      uint64_t Lanes = Vector ? Vector->getElementCount().getKnownMinValue() : 1;
      bool Known = false;
      int64_t Step = 0;
      if (Address->getType()->isPointerTy()) {
        const SCEV *Where = SE.getSCEV(const_cast<Value *>(Address));
        if (SE.isLoopInvariant(Where, &L)) {
          Known = true;
        } else if (const auto *Moving = dyn_cast<SCEVAddRecExpr>(Where);
                   Moving && Moving->getLoop() == &L && Moving->isAffine()) {
          if (const auto *By = dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE));
              By && By->getAPInt().isSignedIntN(64)) {
            Known = true;
            Step = By->getAPInt().getSExtValue();
          }
        }
      }
      ++Counted[{Store, Element, Lanes, Vector && isa<ScalableVectorType>(Vector), Known, Step}];
    }
  json::Array Found;
  for (const auto &[What, Accesses] : Counted) {
    const auto &[Store, Element, Lanes, Scalable, Known, Step] = What;
    Found.push_back(json::Object{{"store", Store},
                                 {"element_bytes", int64_t(Element)},
                                 {"lanes", int64_t(Lanes)},
                                 {"scalable", Scalable},
                                 {"step", Known ? json::Value(Step) : json::Value(nullptr)},
                                 {"accesses", Accesses}});
  }
  return Found;
}

json::Value orNull(uint64_t Number) {
  return Number ? json::Value(int64_t(Number)) : json::Value(nullptr);
}

json::Value entry(const Described &D, Evolution &Evolves, History &Past) {
  Function &F = *D.L->getHeader()->getParent();
  SourceLoop Trips = Evolves.trips(*D.L);
  json::Value Expected = nullptr;
  // Without a profile, branch weights are only estimates.
  if (F.hasProfileData())
    if (auto Estimate = getLoopEstimatedTripCount(D.L))
      Expected = int64_t(*Estimate);
  json::Object Entry{{"id", D.Id},
                     {"function", json::fixUTF8(F.getName())},
                     {"function_name", json::fixUTF8(demangle(std::string(F.getName())))},
                     {"places", places(*D.L)},
                     {"depth", D.L->getLoopDepth()},
                     {"role", D.Role},
                     {"of", D.Of},
                     {"instead", D.Instead},
                     {"trip_count", orNull(Trips.TripCount)},
                     {"max_trip_count", orNull(Trips.MaxTripCount)},
                     {"trip_multiple", std::max(Trips.TripMultiple, 1u)},
                     {"expected_trip_count", std::move(Expected)},
                     {"streams", streams(*D.L, Evolves.get())}};
  if (!D.Facts || !D.Facts->Iterations) {
    Entry["kind"] = "unknown";
    return Entry;
  }
  const LoopFacts &Facts = *D.Facts;
  const SourceLoop &Source = Past.source(Facts);
  Entry["kind"] = nameOf(Facts.Kind);
  Entry["source_loop"] = Facts.Source;
  Entry["source_trip_count"] = orNull(Source.TripCount);
  Entry["source_max_trip_count"] = orNull(Source.MaxTripCount);
  Entry["source_trip_multiple"] = std::max(Source.TripMultiple, 1u);
  Entry["iterations"] = orNull(Facts.Iterations);
  Entry["width"] = Facts.Width;
  Entry["scalable"] = Facts.Scalable;
  Entry["interleave"] = Facts.Interleave;
  Entry["unroll"] = Facts.Unroll;
  Entry["peeled"] = Facts.Peeled;
  return Entry;
}

/// Names a block even if the context discards names, as in release builds of Clang.
void name(BasicBlock &Block, const Twine &Name) {
  LLVMContext &Context = Block.getContext();
  bool Discards = Context.shouldDiscardValueNames();
  Context.setDiscardValueNames(false);
  Block.setName(Name);
  Context.setDiscardValueNames(Discards);
}

} // namespace

json::Value incc::describe(Module &M, History &Past) {
  json::Array Table;
  unsigned Number = 0;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    Loops Now(F);
    if (Now.Info.empty())
      continue;
    // Number the loops in the order of the code.
    SmallVector<Described, 8> Found;
    for (BasicBlock &B : F)
      if (Now.Info.isLoopHeader(&B) && Now.Info.getLoopFor(&B)->isInnermost()) {
        Loop *L = Now.Info.getLoopFor(&B);
        Found.push_back({Number++, L, Past.facts(*L)});
      }
    findRoles(Now, Found);
    Evolution Evolves(F, Now);
    for (Described &D : Found) {
      Table.push_back(entry(D, Evolves, Past));
      name(*D.L->getHeader(), "incc.loop." + Twine(D.Id));
    }
  }
  return json::Object{{"version", TableVersion},
                      {"llvm", LLVM_VERSION_MAJOR},
                      {"module", json::fixUTF8(M.getSourceFileName())},
                      {"target", json::fixUTF8(M.getTargetTriple())},
                      {"loops", std::move(Table)}};
}

unsigned incc::mark(Module &M) {
  StringRef Target = M.getTargetTriple();
  bool Arm = Target.take_front(7) == "aarch64" || Target.take_front(5) == "arm64";
  std::string Comment = Arm ? "// " : "# ";
  FunctionType *Nothing = FunctionType::get(Type::getVoidTy(M.getContext()), false);
  unsigned Marked = 0;
  auto Put = [&](Instruction *Before, const Twine &First, const Twine &Second) {
    std::string Text = (Comment + First + "\n\t" + Comment + Second).str();
    CallInst::Create(InlineAsm::get(Nothing, Text, "", /*hasSideEffects=*/true), "", Before);
  };
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    Loops Now(F);
    for (Loop *L : Now.Info.getLoopsInPreorder()) {
      if (!L->isInnermost() || !L->getUniqueExitBlock() || L->getUniqueExitBlock()->isEHPad())
        continue;
      // After simplifycfg a loop may have neither a preheader nor a dedicated exit.
      BasicBlock *Entry = L->getLoopPreheader();
      if (!Entry)
        Entry = InsertPreheaderForLoop(L, &Now.Dominators, &Now.Info, nullptr, false);
      formDedicatedExitBlocks(L, &Now.Dominators, &Now.Info, nullptr, false);
      BasicBlock *Exit = L->getUniqueExitBlock();
      if (!Entry || !Exit)
        continue;
      // In inline assembly `$` introduces an operand, so escape it in names.
      std::string Name;
      for (char C : F.getName())
        Name += C == '$' ? std::string("$$") : std::string(1, C);
      Name = (Name + ":" + L->getHeader()->getName()).str();
      Put(Entry->getTerminator(), "OSACA-BEGIN", "LLVM-MCA-BEGIN " + Name);
      Put(&*Exit->getFirstInsertionPt(), "LLVM-MCA-END " + Name, "OSACA-END");
      ++Marked;
    }
  }
  return Marked;
}

std::string incc::write(const json::Value &Table, StringRef Path) {
  SmallString<128> Temporary;
  int File;
  if (std::error_code Error = sys::fs::createUniqueFile(Path + ".%%%%%%%%", File, Temporary))
    return Error.message();
  raw_fd_ostream Stream(File, /*shouldClose=*/true);
  Stream << Table << '\n';
  Stream.close();
  std::error_code Error = Stream.error();
  Stream.clear_error();
  if (!Error)
    Error = sys::fs::rename(Temporary, Path);
  if (!Error)
    return "";
  sys::fs::remove(Temporary);
  return Error.message();
}
