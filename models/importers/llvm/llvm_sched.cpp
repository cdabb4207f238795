//===- llvm_sched.cpp - Read LLVM's scheduling models ---------------------===//
//
// Writes LLVM's scheduling model of a processor, one JSON object per
// instruction and line. It reads machine code, one instruction per line: "KEY
// HEX". With --enumerate, it finds an example of every instruction that the
// processor has, if instructions have 32 bits. With --print, it writes the
// syntax of each instruction and the side effects in its description.
// `incc-model import llvm` compiles this program against the LLVM that
// llvm-config names; it is not part of incc.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

using namespace llvm;

namespace {

/// A scheduling class's use of one resource.
struct Usage {
  unsigned Resource;
  uint64_t Units; ///< Bit mask of the resource's members that have no subunits.
  int Cycles;
};

class Reader {
public:
  Reader(const MCSubtargetInfo &STI, const MCInstrInfo &MII, const MCRegisterInfo &MRI,
         const MCDisassembler &Disassembler, const MCInstrAnalysis *Analysis)
      : STI(STI), MII(MII), MRI(MRI), Disassembler(Disassembler), Analysis(Analysis),
        SM(STI.getSchedModel()) {
    for (unsigned I = 1; I < SM.getNumProcResourceKinds(); ++I)
      Units.push_back(unitsOf(I));
  }

  /// Returns the processor's widths and the names of its resources.
  json::Value processor() const {
    json::Array Resources;
    for (unsigned I = 1; I < SM.getNumProcResourceKinds(); ++I) {
      const MCProcResourceDesc &Desc = *SM.getProcResource(I);
      Resources.push_back(
          json::Object{{"name", Desc.Name},
                       {"units", static_cast<int64_t>(Desc.NumUnits)},
                       {"buffer", Desc.BufferSize},
                       {"members", names(Units[I - 1])},
                       {"inside", Desc.SuperIdx ? SM.getProcResource(Desc.SuperIdx)->Name : ""}});
    }
    return json::Object{{"cpu", STI.getCPU()},
                        {"issue_width", SM.IssueWidth},
                        {"rob", SM.MicroOpBufferSize},
                        {"load_latency", SM.LoadLatency},
                        {"mispredict_penalty", SM.MispredictPenalty},
                        {"features", features()},
                        {"extra", extra()},
                        {"resources", std::move(Resources)}};
  }

  json::Value read(StringRef Key, StringRef Hex) const {
    std::string Code;
    if (!tryGetFromHex(Hex, Code))
      return error(Key, "not hexadecimal");
    ArrayRef<uint8_t> Bytes(reinterpret_cast<const uint8_t *>(Code.data()), Code.size());
    MCInst Inst;
    uint64_t Size = 0;
    if (Disassembler.getInstruction(Inst, Size, Bytes, 0, nulls()) != MCDisassembler::Success)
      return error(Key, "not an instruction");
    if (Size != Bytes.size())
      return error(Key, "more than one instruction");

    return describe(Key, Inst);
  }

  /// Returns an instruction's text in both syntaxes, and its properties that do not depend on the
  /// processor.
  json::Value print(StringRef Key, StringRef Hex, MCInstPrinter &Att, MCInstPrinter &Intel) const {
    std::string Code;
    if (!tryGetFromHex(Hex, Code))
      return error(Key, "not hexadecimal");
    ArrayRef<uint8_t> Bytes(reinterpret_cast<const uint8_t *>(Code.data()), Code.size());
    MCInst Inst;
    uint64_t Size = 0;
    if (Disassembler.getInstruction(Inst, Size, Bytes, 0, nulls()) != MCDisassembler::Success)
      return error(Key, "not an instruction");
    if (Size != Bytes.size())
      return error(Key, "more than one instruction");
    auto Write = [&](MCInstPrinter &Printer) {
      std::string Text;
      raw_string_ostream Stream(Text);
      Printer.printInst(&Inst, 0, "", STI, Stream);
      return StringRef(Text).trim().str();
    };
    const MCInstrDesc &Desc = MII.get(Inst.getOpcode());
    return json::Object{{"key", Key},
                        {"opcode", MII.getName(Inst.getOpcode())},
                        {"att", Write(Att)},
                        {"intel", Write(Intel)},
                        {"load", Desc.mayLoad()},
                        {"store", Desc.mayStore()},
                        {"effects", Desc.hasUnmodeledSideEffects()}};
  }

  /// Returns the model's description of one decoded instruction.
  json::Value describe(StringRef Key, const MCInst &Inst) const {
    const MCInstrDesc &Desc = MII.get(Inst.getOpcode());
    unsigned ClassID = Desc.getSchedClass();
    while (ClassID && SM.getSchedClassDesc(ClassID)->isVariant())
      ClassID = STI.resolveVariantSchedClass(ClassID, &Inst, &MII, SM.getProcessorID());
    const MCSchedClassDesc *Class = ClassID ? SM.getSchedClassDesc(ClassID) : nullptr;
    if (!Class || !Class->isValid())
      return error(Key, "no scheduling class");

    json::Array Resources;
    for (const Usage &U : usage(*Class))
      Resources.push_back(json::Object{{"name", SM.getProcResource(U.Resource)->Name},
                                       {"members", names(U.Units)},
                                       {"cycles", U.Cycles}});
    json::Array Latencies;
    json::Array Forwarded;
    unsigned Uses = Desc.getNumOperands() + Desc.implicit_uses().size();
    for (unsigned I = 0; I < Class->NumWriteLatencyEntries; ++I) {
      const MCWriteLatencyEntry *Write = STI.getWriteLatencyEntry(Class, I);
      Latencies.push_back(Write->Cycles);
      // ReadAdvance: an operand that comes from an instruction like this one is needed this much
      // later.
      for (unsigned Use = 0; Use < Uses; ++Use)
        if (int Advance = STI.getReadAdvanceCycles(Class, Use, Write->WriteResourceID))
          Forwarded.push_back(json::Object{{"use", Use}, {"def", I}, {"cycles", Advance}});
    }
    json::Array Operands;
    for (unsigned I = 0; I < Inst.getNumOperands(); ++I)
      Operands.push_back(Inst.getOperand(I).isReg() ? MRI.getName(Inst.getOperand(I).getReg())
                                                    : "");
    json::Array Reads, Writes;
    for (MCPhysReg R : Desc.implicit_uses())
      Reads.push_back(MRI.getName(R));
    for (MCPhysReg R : Desc.implicit_defs())
      Writes.push_back(MRI.getName(R));
    json::Array Advances;
    for (unsigned Use = 0; Use < Uses; ++Use) {
      int Advance = STI.getReadAdvanceCycles(Class, Use, 0);
      if (Advance)
        Advances.push_back(json::Object{{"use", Use}, {"cycles", Advance}});
    }
    APInt Mask;
    bool Breaks = Analysis && Analysis->isDependencyBreaking(Inst, Mask, SM.getProcessorID());
    return json::Object{{"key", Key},
                        {"breaks", Breaks},
                        {"opcode", MII.getName(Inst.getOpcode())},
                        {"uops", Class->NumMicroOps},
                        {"latency", MCSchedModel::computeInstrLatency(STI, *Class)},
                        {"latencies", std::move(Latencies)},
                        {"read_advance", std::move(Advances)},
                        {"forwarded", std::move(Forwarded)},
                        {"operands", std::move(Operands)},
                        {"defs", Desc.getNumDefs()},
                        {"reads", std::move(Reads)},
                        {"writes", std::move(Writes)},
                        {"resources", std::move(Resources)},
                        {"load", Desc.mayLoad()},
                        {"store", Desc.mayStore()}};
  }

  /// Writes an example of every 32-bit instruction and of each kind of operands that may make a
  /// difference, with all registers different if possible.
  ///
  /// One full walk over the bits 10 to 31 with registers 1 and 6 in the lowest fields finds nearly
  /// everything. Further walks put other numbers there, for encodings in which these fields are
  /// part of the opcode, with few values of bits 16 to 20. Another walk covers all system
  /// instructions.
  void enumerate(raw_ostream &OS, MCInstPrinter &Printer) const {
    std::unordered_set<std::string> Seen;
    auto IsSystem = [](uint32_t Word) { return Word >> 21 == 0xd5000000u >> 21; };
    auto Try = [&](uint32_t Word) {
      MCInst Inst;
      uint64_t Size = 0;
      const uint8_t Bytes[] = {uint8_t(Word), uint8_t(Word >> 8), uint8_t(Word >> 16),
                               uint8_t(Word >> 24)};
      if (Disassembler.getInstruction(Inst, Size, Bytes, 0, nulls()) != MCDisassembler::Success)
        return;
      bool Coincide = false;
      std::string Kind = kindOf(Inst, Coincide), Text;
      raw_string_ostream Stream(Text);
      if (IsSystem(Word)) {
        // One opcode has many names there: hints, maintenance of caches.
        Printer.printInst(&Inst, 0, "", STI, Stream);
        Kind += StringRef(Text).trim().split('\t').first;
      }
      if (!Seen.insert(Kind).second)
        return;
      if (!IsSystem(Word))
        Printer.printInst(&Inst, 0, "", STI, Stream);
      json::Value Found = describe(StringRef(Text).trim(), Inst);
      if (Coincide)
        Found.getAsObject()->insert({"coincide", true});
      OS << Found << '\n';
    };
    for (uint32_t High = 0; High < 1u << 22; ++High)
      Try(High << 10 | 6 << 5 | 1);
    for (uint32_t Second : {0u, 1u})
      for (uint32_t High = 0; High < 1u << 22; ++High)
        Try(High << 10 | Second << 5 | 1);
    for (uint32_t Rest = 0; Rest < 1u << 21; ++Rest)
      Try(0xd5000000u | Rest);
    for (uint32_t Low : {0u, 1u, 4u, 8u, 13u, 16u, 17u, 24u, 31u})
      for (uint32_t Second : {0u, 6u, 10u, 22u, 30u, 31u})
        for (uint32_t Top = 0; Top < 1u << 11; ++Top)
          for (uint32_t Third : {0u, 1u, 3u, 8u, 12u, 16u, 20u, 24u, 31u})
            for (uint32_t Middle = 0; Middle < 1u << 6; ++Middle)
              Try(Top << 21 | Third << 16 | Middle << 10 | Second << 5 | Low);
  }

private:
  /// Returns the processor's features, of those that LLVM knows.
  json::Array features() const {
    json::Array Names;
    for (const SubtargetFeatureKV &Feature : STI.getAllProcessorFeatures())
      if (STI.hasFeature(Feature.Value))
        Names.push_back(Feature.Key);
    return Names;
  }

  /// Returns the other parameters that llvm-mca simulates, null if the model does not state them.
  json::Value extra() const {
    if (!SM.hasExtraProcessorInfo())
      return nullptr;
    const MCExtraProcessorInfo &Info = SM.getExtraProcessorInfo();
    json::Array Files;
    for (unsigned I = 0; I < Info.NumRegisterFiles; ++I) {
      const MCRegisterFileDesc &File = Info.RegisterFiles[I];
      // Skip the first entry, which is a placeholder without name or registers.
      if (!File.Name || !*File.Name || StringRef(File.Name) == "InvalidRegisterFile")
        continue;
      json::Object Shown{{"name", File.Name}, {"registers", File.NumPhysRegs}};
      const MCRegisterCostEntry *Costs = Info.RegisterCostTable + File.RegisterCostEntryIdx;
      if (std::any_of(Costs, Costs + File.NumRegisterCostEntries,
                      [](const MCRegisterCostEntry &Each) { return Each.AllowMoveElimination; }))
        Shown["moves"] = File.MaxMovesEliminatedPerCycle;
      Files.push_back(std::move(Shown));
    }
    auto Queue = [&](unsigned ID) { return ID ? SM.getProcResource(ID)->Name : ""; };
    return json::Object{{"rob", Info.ReorderBufferSize},
                        {"retire_width", Info.MaxRetirePerCycle},
                        {"load_queue", Queue(Info.LoadQueueID)},
                        {"store_queue", Queue(Info.StoreQueueID)},
                        {"register_files", std::move(Files)}};
  }

  /// Returns the opcode and kinds of operands as a string, which is equal for instructions that the
  /// model cannot distinguish and that print alike. Sets `Coincide` if registers are equal that
  /// need not be.
  std::string kindOf(const MCInst &Inst, bool &Coincide) const {
    const MCInstrDesc &Desc = MII.get(Inst.getOpcode());
    std::string Kind = std::to_string(Inst.getOpcode());
    SmallVector<MCRegister, 8> Used;
    for (unsigned I = 0; I < Inst.getNumOperands(); ++I) {
      const MCOperand &Operand = Inst.getOperand(I);
      Kind += '|';
      if (Operand.isReg()) {
        StringRef Name = Operand.getReg() ? MRI.getName(Operand.getReg()) : "";
        bool Special = Name.ends_with("ZR") || Name.ends_with("SP");
        Kind += Special ? 'z' : Name == "LR" ? 'l' : 'r';
        bool Tied = I < Desc.getNumOperands() && Desc.getOperandConstraint(I, MCOI::TIED_TO) != -1;
        if (Special || Tied || !Operand.getReg())
          continue;
        for (MCRegister Other : Used)
          if (MRI.regsOverlap(Other, Operand.getReg()))
            Kind += '=', Coincide = true;
        Used.push_back(Operand.getReg());
      } else if (Operand.isImm()) {
        // Distinguish immediates: zero, 1 to 4 (cheap shifts), more, and the last bit of an element
        // (shifts that are bit-field moves). The bits above hold the kind of shift or extension.
        int64_t Value = Operand.getImm(), Amount = Value & 63;
        Kind += std::to_string(std::clamp<int64_t>(Value >> 3, -1, 104));
        if (Value % 8 == 0)
          Kind += '0'; // an extension without a shift
        Kind += Amount == 0 ? 'a' : Amount < 5 ? 'b' : Amount & (Amount + 1) ? 'c' : 'd';
      } else {
        Kind += 'e';
      }
    }
    return Kind;
  }

  static json::Value error(StringRef Key, StringRef Why) {
    return json::Object{{"key", Key}, {"error", Why}};
  }

  uint64_t unitsOf(unsigned Resource) const {
    const MCProcResourceDesc &Desc = *SM.getProcResource(Resource);
    if (!Desc.SubUnitsIdxBegin)
      return uint64_t(1) << Resource;
    uint64_t Mask = 0;
    for (unsigned I = 0; I < Desc.NumUnits; ++I)
      Mask |= unitsOf(Desc.SubUnitsIdxBegin[I]);
    return Mask;
  }

  json::Array names(uint64_t Mask) const {
    json::Array Names;
    for (unsigned I = 1; I < SM.getNumProcResourceKinds(); ++I)
      if (Mask >> I & 1)
        Names.push_back(SM.getProcResource(I)->Name);
    return Names;
  }

  /// Returns the use of resources. TableGen also adds the use of a unit to every group that
  /// contains it. This function undoes that: a group keeps only the use that its units and smaller
  /// groups do not account for.
  std::vector<Usage> usage(const MCSchedClassDesc &Class) const {
    std::vector<Usage> All;
    for (const MCWriteProcResEntry *P = STI.getWriteProcResBegin(&Class),
                                   *E = STI.getWriteProcResEnd(&Class);
         P != E; ++P)
      All.push_back(
          {P->ProcResourceIdx, Units[P->ProcResourceIdx - 1], static_cast<int>(P->ReleaseAtCycle)});
    std::stable_sort(All.begin(), All.end(), [](const Usage &A, const Usage &B) {
      return popcount(A.Units) < popcount(B.Units);
    });
    std::vector<Usage> Own;
    for (Usage U : All) {
      for (const Usage &Smaller : Own)
        if (Smaller.Units != U.Units && (Smaller.Units & ~U.Units) == 0)
          U.Cycles -= Smaller.Cycles;
      if (U.Cycles > 0)
        Own.push_back(U);
    }
    return Own;
  }

  const MCSubtargetInfo &STI;
  const MCInstrInfo &MII;
  const MCRegisterInfo &MRI;
  const MCDisassembler &Disassembler;
  const MCInstrAnalysis *Analysis; ///< Null where the target has none.
  const MCSchedModel &SM;
  std::vector<uint64_t> Units;
};

} // namespace

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  const bool Enumerate = Argc == 4 && StringRef(Argv[3]) == "--enumerate";
  const bool Print = Argc == 4 && StringRef(Argv[3]) == "--print";
  if (Argc != 3 && !Enumerate && !Print) {
    errs() << "usage: llvm_sched TRIPLE CPU [--print] < lines of KEY HEX\n"
              "       llvm_sched TRIPLE CPU --enumerate\n";
    return 2;
  }
  InitializeAllTargetInfos();
  InitializeAllTargetMCs();
  InitializeAllDisassemblers();

  const std::string Triple = Triple::normalize(Argv[1]);
  std::string Error;
  const Target *T = TargetRegistry::lookupTarget(Triple, Error);
  if (!T) {
    errs() << "llvm_sched: " << Error << '\n';
    return 1;
  }
  std::unique_ptr<MCRegisterInfo> MRI(T->createMCRegInfo(Triple));
  MCTargetOptions Options;
  std::unique_ptr<MCAsmInfo> MAI(T->createMCAsmInfo(*MRI, Triple, Options));
  std::unique_ptr<MCInstrInfo> MII(T->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> STI(T->createMCSubtargetInfo(Triple, Argv[2], ""));
  if (!STI || !STI->isCPUStringValid(Argv[2]) || !STI->getSchedModel().hasInstrSchedModel()) {
    errs() << "llvm_sched: LLVM has no scheduling model for '" << Argv[2] << "'\n";
    return 1;
  }
  MCContext Context(llvm::Triple(Triple), MAI.get(), MRI.get(), STI.get());
  std::unique_ptr<MCDisassembler> Disassembler(T->createMCDisassembler(*STI, Context));

  std::unique_ptr<MCInstrAnalysis> Analysis(T->createMCInstrAnalysis(MII.get()));
  Reader R(*STI, *MII, *MRI, *Disassembler, Analysis.get());
  std::string Key, Hex;
  if (Print) {
    auto Printer = [&](unsigned Dialect) {
      return std::unique_ptr<MCInstPrinter>(
          T->createMCInstPrinter(llvm::Triple(Triple), Dialect, *MAI, *MII, *MRI));
    };
    std::unique_ptr<MCInstPrinter> Att = Printer(0), Intel = Printer(1);
    while (std::cin >> Key >> Hex)
      outs() << R.print(Key, Hex, *Att, *Intel) << '\n';
    return 0;
  }
  outs() << R.processor() << '\n';
  if (Enumerate) {
    std::unique_ptr<MCInstPrinter> Printer(
        T->createMCInstPrinter(llvm::Triple(Triple), MAI->getAssemblerDialect(), *MAI, *MII, *MRI));
    R.enumerate(outs(), *Printer);
    return 0;
  }
  while (std::cin >> Key >> Hex)
    outs() << R.read(Key, Hex) << '\n';
  return 0;
}
