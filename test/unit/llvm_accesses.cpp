//===- llvm_accesses.cpp - Registers of A64 instructions in LLVM ----------===//
//
// Reads A64 statements, one per line, and writes a line of JSON for each: the
// text, LLVM's opcode, and the registers that the instruction reads and writes
// according to LLVM's description. With --enumerate, it writes this for an
// example of every instruction that LLVM knows. test_aarch64_accesses.py
// compiles it against the LLVM that llvm-config names; it is not part of incc.
//
//===----------------------------------------------------------------------===//

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>

using namespace llvm;

namespace {

class Describer {
public:
  Describer(const MCInstrInfo &MII, const MCRegisterInfo &MRI) : MII(MII), MRI(MRI) {}

  json::Object describe(StringRef Text, const MCInst &Inst) const {
    const MCInstrDesc &Desc = MII.get(Inst.getOpcode());
    json::Array Reads, Writes, Tied;
    for (unsigned I = 0; I < Inst.getNumOperands(); ++I) {
      if (!Inst.getOperand(I).isReg() || !Inst.getOperand(I).getReg())
        continue;
      add(I < Desc.getNumDefs() ? Writes : Reads, Inst.getOperand(I).getReg());
      if (I < Desc.getNumOperands() && Desc.getOperandConstraint(I, MCOI::TIED_TO) != -1)
        add(Tied, Inst.getOperand(I).getReg());
    }
    for (MCPhysReg Register : Desc.implicit_uses())
      add(Reads, Register);
    for (MCPhysReg Register : Desc.implicit_defs())
      add(Writes, Register);
    return json::Object{{"text", Text},
                        {"opcode", MII.getName(Inst.getOpcode())},
                        {"reads", std::move(Reads)},
                        {"writes", std::move(Writes)},
                        {"tied", std::move(Tied)},
                        {"load", Desc.mayLoad()},
                        {"store", Desc.mayStore()},
                        {"effects", Desc.hasUnmodeledSideEffects()},
                        {"branch", Desc.isBranch() || Desc.isCall() || Desc.isReturn()}};
  }

private:
  /// Adds a register by its name, or the members of a list of registers.
  void add(json::Array &Names, MCRegister Register) const {
    StringRef Name = MRI.getName(Register);
    SmallVector<StringRef, 4> Parts;
    Name.split(Parts, '_');
    if (Parts.size() > 1 && Name != "ZA")
      for (StringRef Part : Parts)
        Names.push_back(Part);
    else
      Names.push_back(Name);
  }

  const MCInstrInfo &MII;
  const MCRegisterInfo &MRI;
};

/// Describes the instructions that the parser hands over.
class Recorder : public MCStreamer {
public:
  Recorder(MCContext &Context, const Describer &Described)
      : MCStreamer(Context), Described(Described) {}

  bool emitSymbolAttribute(MCSymbol *, MCSymbolAttr) override { return true; }
  void emitCommonSymbol(MCSymbol *, uint64_t, Align) override {}
  void emitZerofill(MCSection *, MCSymbol *, uint64_t, Align, SMLoc) override {}
  void emitInstruction(const MCInst &Inst, const MCSubtargetInfo &) override {
    outs() << json::Value(Described.describe(Text, Inst)) << '\n';
  }

  std::string Text;

private:
  const Describer &Described;
};

} // namespace

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  const bool Enumerate = Argc == 2 && StringRef(Argv[1]) == "--enumerate";
  InitializeAllTargetInfos();
  InitializeAllTargetMCs();
  InitializeAllAsmParsers();
  InitializeAllDisassemblers();

  const char *Name = "aarch64-linux-gnu";
  const Triple TheTriple(Name);
  std::string Error;
  const Target *T = TargetRegistry::lookupTarget(Name, Error);
  if (!T) {
    errs() << "llvm_accesses: " << Error << '\n';
    return 1;
  }
  MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> MRI(T->createMCRegInfo(Name));
  std::unique_ptr<MCAsmInfo> MAI(T->createMCAsmInfo(*MRI, Name, Options));
  std::unique_ptr<MCInstrInfo> MII(T->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> STI(T->createMCSubtargetInfo(Name, "", "+all,+sve2"));
  const Describer Described(*MII, *MRI);

  if (Enumerate) {
    MCContext Context(TheTriple, MAI.get(), MRI.get(), STI.get());
    std::unique_ptr<MCDisassembler> Disassembler(T->createMCDisassembler(*STI, Context));
    std::unique_ptr<MCInstPrinter> Printer(
        T->createMCInstPrinter(TheTriple, MAI->getAssemblerDialect(), *MAI, *MII, *MRI));
    std::unordered_map<unsigned, unsigned> Examples;
    auto Try = [&](uint32_t Word) {
      MCInst Inst;
      uint64_t Size = 0;
      const uint8_t Bytes[] = {uint8_t(Word), uint8_t(Word >> 8), uint8_t(Word >> 16),
                               uint8_t(Word >> 24)};
      if (Disassembler->getInstruction(Inst, Size, Bytes, 0, nulls()) != MCDisassembler::Success ||
          ++Examples[Inst.getOpcode()] > 3)
        return;
      std::string Text;
      raw_string_ostream Stream(Text);
      Printer->printInst(&Inst, 0, "", *STI, Stream);
      outs() << json::Value(Described.describe(StringRef(Text).trim(), Inst)) << '\n';
    };
    // Try every word with registers 1 and 6 in the lowest fields, then with other numbers there,
    // for encodings in which these fields are part of the opcode.
    for (uint32_t High = 0; High < 1u << 22; ++High)
      Try(High * 2654435761u << 10 | 6 << 5 | 1);
    for (uint32_t Low : {0u, 1u, 4u, 8u, 16u, 17u, 24u, 31u})
      for (uint32_t Second : {0u, 6u, 10u, 22u, 30u, 31u})
        for (uint32_t Top = 0; Top < 1u << 11; ++Top)
          for (uint32_t Third : {0u, 1u, 3u, 8u, 12u, 16u, 20u, 24u, 31u})
            for (uint32_t Middle = 0; Middle < 1u << 6; ++Middle)
              Try(Top << 21 | Third << 16 | Middle << 10 | Second << 5 | Low);
    return 0;
  }

  std::string Line;
  while (std::getline(std::cin, Line)) {
    SourceMgr Sources;
    Sources.setDiagHandler(
        [](const SMDiagnostic &Diagnostic, void *Text) {
          outs() << json::Value(json::Object{{"text", *static_cast<std::string *>(Text)},
                                             {"error", Diagnostic.getMessage()}})
                 << '\n';
        },
        &Line);
    Sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(Line + "\n"), SMLoc());
    MCContext Context(TheTriple, MAI.get(), MRI.get(), STI.get(), &Sources);
    std::unique_ptr<MCObjectFileInfo> Objects(T->createMCObjectFileInfo(Context, false));
    Context.setObjectFileInfo(Objects.get());
    Recorder Streamer(Context, Described);
    // The parser of the target expects a streamer of the target.
    T->createNullTargetStreamer(Streamer);
    Streamer.Text = Line;
    std::unique_ptr<MCAsmParser> Parser(createMCAsmParser(Sources, Context, Streamer, *MAI));
    std::unique_ptr<MCTargetAsmParser> Target(T->createMCAsmParser(*STI, *Parser, *MII, Options));
    Parser->setTargetParser(*Target);
    Parser->Run(false);
  }
  return 0;
}
