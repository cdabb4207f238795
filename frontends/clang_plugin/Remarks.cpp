//===- Remarks.cpp - Reading passes' remarks about loops ------------------===//

#include "Remarks.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"

#include <memory>

using namespace llvm;
using namespace incc;

namespace {

/// Copies the flag for errors, a member that not every version of LLVM has.
template <typename Handler>
auto passError(Handler &To, const Handler &From, int) -> decltype(void(To.HasErrors)) {
  To.HasErrors |= From.HasErrors;
}
template <typename Handler> void passError(Handler &, const Handler &, long) {}

/// Returns the number in a remark's argument, 0 if it is not a number.
unsigned number(StringRef Text) {
  unsigned Value = 0;
  return Text.getAsInteger(10, Value) ? 0 : Value;
}

class Listener : public DiagnosticHandler {
public:
  Listener(std::unique_ptr<DiagnosticHandler> Next, StringRef PassName, bool Streams,
           RemarkCallback Callback)
      : Next(std::move(Next)), PassName(PassName), Streams(Streams), Callback(std::move(Callback)) {
  }

  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getKind() == DK_OptimizationRemark) {
      const auto &Remark = static_cast<const OptimizationRemark &>(Info);
      if (Remark.getPassName() == PassName)
        handleRemark(Remark);
    }
    if (isEnabledOnlyByUs(Info))
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
  /// Returns true if a remark was emitted only because this listener enabled it. Some remarks are
  /// printed whenever they are emitted.
  bool isEnabledOnlyByUs(const DiagnosticInfo &Info) const {
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

  void handleRemark(const OptimizationRemark &Remark) {
    const auto *Header = dyn_cast_or_null<BasicBlock>(Remark.getCodeRegion());
    // A loop that is unrolled completely no longer exists.
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
        Found.Kind = Key == "UnrollCount" ? LoopRemark::Unrolled : LoopRemark::Peeled;
        Found.Copies = number(Value);
        Known = true;
      }
    }
    if (Known && Found.Width && Found.Copies)
      Callback(Found);
  }

  StringRef PassName;
  /// Remarks are also streamed to a file.
  bool Streams;
  RemarkCallback Callback;
};

} // namespace

RemarkScope::RemarkScope(LLVMContext &Context, StringRef PassName, RemarkCallback Callback)
    : Context(Context) {
  Context.setDiagnosticHandler(
      std::make_unique<Listener>(Context.getDiagnosticHandler(), PassName,
                                 Context.getLLVMRemarkStreamer() != nullptr, std::move(Callback)));
}

RemarkScope::~RemarkScope() {
  std::unique_ptr<DiagnosticHandler> Own = Context.getDiagnosticHandler();
  auto &Ours = static_cast<Listener &>(*Own);
  if (Ours.Next)
    passError<DiagnosticHandler>(*Ours.Next, Ours, 0);
  Context.setDiagnosticHandler(std::move(Ours.Next));
}
