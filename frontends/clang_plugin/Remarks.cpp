//===- Remarks.cpp - What a pass says of the loops that it changes --------===//

#include "Remarks.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"

#include <memory>

using namespace llvm;
using namespace incc;

namespace {

/// A handler says whether it has met an error in a member that not every LLVM has.
template <typename Handler>
auto passError(Handler &To, const Handler &From, int) -> decltype(void(To.HasErrors)) {
  To.HasErrors |= From.HasErrors;
}
template <typename Handler> void passError(Handler &, const Handler &, long) {}

/// Reads a remark's argument, 0 for what is no number.
unsigned number(StringRef Text) {
  unsigned Value = 0;
  return Text.getAsInteger(10, Value) ? 0 : Value;
}

class Listener : public DiagnosticHandler {
public:
  Listener(std::unique_ptr<DiagnosticHandler> Next, StringRef PassName, bool Streams, Hearing Tell)
      : Next(std::move(Next)), PassName(PassName), Streams(Streams), Tell(std::move(Tell)) {}

  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getKind() == DK_OptimizationRemark) {
      const auto &Remark = static_cast<const OptimizationRemark &>(Info);
      if (Remark.getPassName() == PassName)
        hear(Remark);
    }
    if (isMadeForUs(Info))
      return true;
    if (!Next)
      return false;
    bool Handled = Next->handleDiagnostics(Info);
    passError<DiagnosticHandler>(*this, *Next, 0);
    return Handled;
  }

  bool isAnalysisRemarkEnabled(StringRef Name) const override {
    return Next && Next->isAnalysisRemarkEnabled(Name);
  }
  bool isMissedOptRemarkEnabled(StringRef Name) const override {
    return Next && Next->isMissedOptRemarkEnabled(Name);
  }
  bool isPassedOptRemarkEnabled(StringRef Name) const override {
    return Name == PassName || (Next && Next->isPassedOptRemarkEnabled(Name));
  }
  bool isAnyRemarkEnabled() const override { return true; }

  std::unique_ptr<DiagnosticHandler> Next;

private:
  /// Whether nobody would have made a remark without us. Some are printed whenever they are made.
  bool isMadeForUs(const DiagnosticInfo &Info) const {
    switch (Info.getKind()) {
    case DK_OptimizationRemark:
      if (!Next || !Next->isPassedOptRemarkEnabled(PassName))
        return true;
      break;
    case DK_OptimizationRemarkMissed:
    case DK_OptimizationRemarkAnalysis:
    case DK_OptimizationRemarkAnalysisFPCommute:
    case DK_OptimizationRemarkAnalysisAliasing:
      break;
    default:
      return false;
    }
    return !(Next && Next->isAnyRemarkEnabled()) && !Streams;
  }

  void hear(const OptimizationRemark &Remark) {
    const auto *Header = dyn_cast_or_null<BasicBlock>(Remark.getCodeRegion());
    // A loop that is unrolled completely is none any more.
    if (!Header || Remark.getRemarkName() == "FullyUnrolled")
      return;
    LoopRemark Found{LoopRemark::Vectorized, Header};
    bool Known = false;
    for (const auto &Argument : Remark.getArgs()) {
      StringRef Key = Argument.Key, Value = Argument.Val;
      if (Key == "VectorizationFactor") {
        Found.Scalable = Value.consume_front("vscale x ");
        Found.Width = number(Value);
        Known = true;
      } else if (Key == "InterleaveCount") {
        Found.Copies = number(Value);
        Known = true;
      } else if (Key == "UnrollCount" || Key == "PeelCount") {
        Found.What = Key == "UnrollCount" ? LoopRemark::Unrolled : LoopRemark::Peeled;
        Found.Copies = number(Value);
        Known = true;
      }
    }
    if (Known && Found.Width && Found.Copies)
      Tell(Found);
  }

  StringRef PassName;
  /// Remarks are made for a file as well.
  bool Streams;
  Hearing Tell;
};

} // namespace

RemarkScope::RemarkScope(LLVMContext &Context, StringRef PassName, Hearing Hear)
    : Context(Context) {
  Context.setDiagnosticHandler(
      std::make_unique<Listener>(Context.getDiagnosticHandler(), PassName,
                                 Context.getLLVMRemarkStreamer() != nullptr, std::move(Hear)));
}

RemarkScope::~RemarkScope() {
  std::unique_ptr<DiagnosticHandler> Own = Context.getDiagnosticHandler();
  auto &Ours = static_cast<Listener &>(*Own);
  if (Ours.Next)
    passError<DiagnosticHandler>(*Ours.Next, Ours, 0);
  Context.setDiagnosticHandler(std::move(Ours.Next));
}
