// Cycles of loops of x86-64 machine code on this machine, without performance counters.
//
// Reads lines "HEX": the body of a loop, which may use every register but rbp (the loop's counter)
// and rsp, and memory from 64 KiB below r14 to 64 KiB above. Writes for each "CYCLES" of one trip
// (with the loop's own dec and jnz), or "fail WHY" for a body that faults or runs for too long.
// Cycles are core cycles: each sample is divided by the time of a chain of dependent one-cycle
// additions taken beside it, so that the clock may change. Samples beside which independent
// additions took longer than they can are not used: something else was running on the core.
//
// Before each run, general-purpose registers hold 1, but rdx and r12 0, r14, rsi and rdi an address
// and r15 0; vector registers 0 to 11 and 16 to 31 and memory hold a pattern of small
// floating-point numbers of any width, 12 to 15 zero, and mask registers all ones. Denormals are
// flushed.

#include <initializer_list>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <x86intrin.h>

namespace {

constexpr size_t CodeBytes = 1 << 20, DataBytes = 1 << 20;
constexpr int MostBody = 16384, Samples = 5, MostTries = 60;
constexpr double WantedCycles = 20000;

uint8_t *Code;
uint8_t *Data;
alignas(64) uint8_t Pattern[64];
sigjmp_buf Escape;

void onSignal(int Signal, siginfo_t *, void *) { siglongjmp(Escape, Signal); }

uint8_t *emit(uint8_t *P, std::initializer_list<int> Bytes) {
  for (int B : Bytes)
    *P++ = static_cast<uint8_t>(B);
  return P;
}

uint8_t *load(uint8_t *P, int Register, uint64_t Value) {
  P = emit(P, {0x48 | (Register >> 3), 0xb8 | (Register & 7)});
  memcpy(P, &Value, 8);
  return P + 8;
}

/// void f(uint64_t iterations), in rdi.
using Function = void (*)(uint64_t);

uint64_t SavedStack;

Function build(const uint8_t *Body, int Size, bool Wide) {
  uint8_t *P = Code;
  P = emit(P, {0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41,
               0x57});             // push rbx, rbp, r12 ... r15
  P = emit(P, {0x48, 0x89, 0xfd}); // mov rbp, rdi
  P = load(P, 0, reinterpret_cast<uint64_t>(&SavedStack));
  P = emit(P, {0x48, 0x89, 0x20}); // mov [rax], rsp
  P = load(P, 0, reinterpret_cast<uint64_t>(Pattern));
  if (__builtin_cpu_supports("avx512f")) {
    for (int R = 0; R < 32; ++R) // vmovups zmmR, [rax]
      P = emit(P, {0x62,
                   R < 8    ? 0xf1
                   : R < 16 ? 0x71
                   : R < 24 ? 0xe1
                            : 0x61,
                   0x7c, 0x48, 0x10, (R & 7) << 3});
    for (int R = 12; R < 16; ++R) // vpxor xmmR, xmmR, xmmR
      P = emit(P, {0xc4, 0x41, (~R & 15) << 3 | 1, 0xef, 0xc0 | (R & 7) << 3 | (R & 7)});
    for (int R = 0; R < 8; ++R) // kxnorw kR, kR, kR
      P = emit(P, {0xc5, 0xfc & ~(R << 3), 0x46, 0xc0 | R << 3 | R});
  } else {
    for (int R = 0; R < 16; ++R) // vmovups ymmR, [rax]
      P = emit(P, {0xc5, R < 8 ? 0xfc : 0x7c, 0x10, (R & 7) << 3});
    for (int R = 12; R < 16; ++R)
      P = emit(P, {0xc4, 0x41, (~R & 15) << 3 | 1, 0xef, 0xc0 | (R & 7) << 3 | (R & 7)});
  }
  if (!Wide) // Upper halves zero, so that SSE instructions need not keep them.
    P = emit(P, {0xc5, 0xf8, 0x77});
  const auto Address = reinterpret_cast<uint64_t>(Data + DataBytes / 2);
  for (int R = 0; R < 16; ++R)
    if (R != 4 && R != 5)
      P = load(P, R, R == 2 || R == 12 || R == 15 ? 0 : R == 14 || R == 6 || R == 7 ? Address : 1);
  P = emit(P, {0xf8, 0xfc}); // clc; cld
  while (reinterpret_cast<uint64_t>(P) & 63)
    *P++ = 0x90;
  uint8_t *Start = P;
  memcpy(P, Body, Size);
  P += Size;
  P = emit(P, {0xff, 0xcd, 0x0f, 0x85}); // dec ebp; jnz Start
  const auto Back = static_cast<int32_t>(Start - (P + 4));
  memcpy(P, &Back, 4);
  P += 4;
  P = load(P, 0, reinterpret_cast<uint64_t>(&SavedStack));
  P = emit(P, {0x48, 0x8b, 0x20, 0xfc});                                     // mov rsp, [rax]; cld
  P = emit(P, {0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b}); // pop ...
  P = emit(P, {0xc5, 0xf8, 0x77, 0x0f, 0x77, 0xc3}); // vzeroupper; emms; ret
  return reinterpret_cast<Function>(Code);
}

uint64_t now() {
  unsigned Core;
  _mm_lfence();
  const uint64_t T = __rdtscp(&Core);
  _mm_lfence();
  return T;
}

double timeChain() { // 20000 cycles
  const uint64_t T = now();
  uint64_t X = 1;
  for (int I = 0; I < 1000; ++I)
    __asm__ volatile("add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;"
                     "add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;"
                     "add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0;add $1,%0"
                     : "+r"(X));
  return static_cast<double>(now() - T);
}

/// Four independent chains, a quarter of the time. Takes longer while something else runs on the
/// same core: another thread of it, or another process.
double timeChains() {
  const uint64_t T = now();
  uint64_t A = 1, B = 1, C = 1, D = 1;
  for (int I = 0; I < 250; ++I)
    __asm__ volatile(
        "add $1,%0;add $1,%1;add $1,%2;add $1,%3;add $1,%0;add $1,%1;add $1,%2;add $1,%3;"
        "add $1,%0;add $1,%1;add $1,%2;add $1,%3;add $1,%0;add $1,%1;add $1,%2;add $1,%3;"
        "add $1,%0;add $1,%1;add $1,%2;add $1,%3;add $1,%0;add $1,%1;add $1,%2;add $1,%3;"
        "add $1,%0;add $1,%1;add $1,%2;add $1,%3;add $1,%0;add $1,%1;add $1,%2;add $1,%3"
        : "+r"(A), "+r"(B), "+r"(C), "+r"(D));
  return static_cast<double>(now() - T);
}

double timeRun(Function F, uint64_t Iterations) {
  const uint64_t T = now();
  F(Iterations);
  return static_cast<double>(now() - T);
}

double Undisturbed; ///< Time of the independent additions relative to that of the chain.

void calibrate() {
  double Chain = 1e18, Chains = 1e18;
  for (int I = 0; I < 1000; ++I) {
    const double One = timeChain(), Four = timeChains();
    Chain = One < Chain ? One : Chain;
    Chains = Four < Chains ? Four : Chains;
  }
  Undisturbed = Chains / Chain;
}

int compare(const void *A, const void *B) {
  const double D = *static_cast<const double *>(A) - *static_cast<const double *>(B);
  return (D > 0) - (D < 0);
}

void fill() {
  for (size_t I = DataBytes / 2 - (1 << 16); I < DataBytes / 2 + (1 << 16); I += 8)
    memcpy(Data + I, Pattern, 8);
}

void measure(const uint8_t *Body, int Size, bool Wide) {
  const Function F = build(Body, Size, Wide);
  fill();
  _mm_setcsr(0x9fc0); // Denormals are zero, exceptions masked.
  itimerval Limit{{0, 0}, {2, 0}}, Off{};
  if (const int Signal = sigsetjmp(Escape, 1)) {
    setitimer(ITIMER_REAL, &Off, nullptr);
    __asm__ volatile("cld; emms");
    printf("fail %s\n", Signal == SIGILL    ? "illegal"
                        : Signal == SIGFPE  ? "division"
                        : Signal == SIGALRM ? "time"
                                            : "memory");
    return;
  }
  setitimer(ITIMER_REAL, &Limit, nullptr);
  timeRun(F, 20);
  const double Trip = timeRun(F, 20) / 20 / (timeChain() / 20000);
  const double Wanted = WantedCycles / (Trip > 0.5 ? Trip : 0.5);
  const uint64_t N = Wanted < 20 ? 20 : static_cast<uint64_t>(Wanted);
  timeRun(F, N);
  double Found[Samples], Any[MostTries];
  int Good = 0, Tried = 0;
  while (Good < Samples && Tried < MostTries) {
    const double Before = timeChain(), Beside = timeChains(), One = timeRun(F, N),
                 Three = timeRun(F, 3 * N), Again = timeChains(), After = timeChain();
    const double Chain = Before < After ? Before : After;
    const double Sample = (Three - One) / static_cast<double>(2 * N) / (Chain / 20000);
    const auto Fair = [&](double Chains) {
      return Chains > 0.95 * Undisturbed * Chain && Chains < 1.05 * Undisturbed * Chain;
    };
    Any[Tried++] = Sample;
    if (Fair(Beside) && Fair(Again))
      Found[Good++] = Sample;
  }
  setitimer(ITIMER_REAL, &Off, nullptr);
  qsort(Found, Good, sizeof *Found, compare);
  qsort(Any, Tried, sizeof *Any, compare);
  printf("%.3f\n", Good ? Found[Good / 3] : Any[Tried / 3]);
}

} // namespace

int main() {
  Code = static_cast<uint8_t *>(mmap(nullptr, CodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Data = static_cast<uint8_t *>(mmap(reinterpret_cast<void *>(0x10000000), DataBytes,
                                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  stack_t Stack{malloc(1 << 16), 0, 1 << 16};
  sigaltstack(&Stack, nullptr);
  struct sigaction Action{};
  Action.sa_sigaction = onSignal;
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int Signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM})
    sigaction(Signal, &Action, nullptr);
  for (int I = 0; I < 64; I += 2)
    Pattern[I] = 0x80, Pattern[I + 1] = 0x3f;
  calibrate();
  static char Line[2 * MostBody + 2];
  static uint8_t Body[MostBody];
  while (fgets(Line, sizeof Line, stdin)) {
    int Size = 0;
    unsigned Byte;
    for (char *H = Line; Size < MostBody && sscanf(H, "%2x", &Byte) == 1; H += 2)
      Body[Size++] = static_cast<uint8_t>(Byte);
    measure(Body, Size, strstr(Line, " wide"));
    fflush(stdout);
  }
}
