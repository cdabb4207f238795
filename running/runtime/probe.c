//===- probe.c - The runtime of probes in programs --------------------------===//
//
// This file is linked into each program and shared library that is built with
// probes. The probes themselves are code that incc puts on the ways into and
// out of loops (incc/running/x86.py). An entry counts up a number in the
// thread's own memory. When the number reaches zero, the entry is a sample: the
// probe calls `incc_probe2_enter`, which notes time and registers, and the next
// exit calls `incc_probe2_leave`, which adds the sample to the loop's record.
//
// All counts and records are in a file that is mapped into memory. Whatever ends
// the process, the file has what was counted until then, and it can be read at
// any time. Files are made in the folder that INCC_PROBES names; without that
// variable the probes stay switched off.
//
// A probe takes no lock and allocates no memory. Only the first probe of a
// thread, and the first of a loop in a thread, may extend the file.
//
// The formats of descriptors and of the file are read by incc/running/profile.py
// and written by incc/running/x86.py; a change here needs one there.
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Older C libraries have it in a library of its own.
extern int dladdr(const void *, Dl_info *) __attribute__((weak));

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  Page = 4096,
  Buckets = 40,    ///< of the histogram: the n-th has 2^(n-1) to 2^n - 1 iterations
  Examples = 16,   ///< samples of a loop in a thread that are kept as they are
  Values = 8,      ///< registers that a sample keeps
  Sides = 4,       ///< registers of these that count sides of branches
  AllSampled = 32, ///< the first entries of a loop in a thread, which are all samples
  DoneEach = 8,    ///< of so many samples of short entries, one is timed until all work is done
  Nesting = 4,     ///< samples of a loop that may run at the same time, one inside of the other
};

/// The count of a loop without recording: it does not reach zero.
static const int64_t SwitchedOff = INT64_MIN / 2;
/// Ticks of a long entry, some tenths of a millisecond: other processes may have run meanwhile.
static const uint64_t LongTicks = 1 << 20;
/// The mean ticks of entries up to which the core may reach the end long before it has done the
/// work.
static const uint64_t ShortTicks = 1 << 12;
/// The mean ticks of entries from which on all of them may be long.
static const uint64_t TimedTicks = 1 << 17;
/// Ticks for which clocks that were read are recent: reading them takes some hundreds.
static const uint64_t RecentTicks = 1 << 18;
/// The largest file, in bytes. Threads and loops that come later are not recorded.
static const uint64_t LargestFile = 1ull << 30;

//===--- What probes and this file share ------------------------------------===//
//
// The number in the names of symbols and sections belongs to this layout, and to the registers and
// values that probes hand over. It grows with each change: objects of another version of incc can
// be linked with this file, and are not recorded.

enum { NoRegister = 255 };

/// Where a probe finds the value that tells the iterations.
struct Place {
  int64_t Offset; ///< the constant part of the difference from the value at the iteration's start
  int32_t Displacement;
  int32_t Rounds;   ///< 1 if the iteration that is left here counts
  uint8_t Register; ///< its number, NoRegister for Counted
  uint8_t IsMemory; ///< 1 if it is at Displacement from the address in the register
  int8_t Steps;     ///< that are part of the difference, if the step is no constant
  uint8_t Unused[5];
} __attribute__((packed));

/// A loop. Each thread has a copy, of which only the first six fields are used.
struct Loop {
  int64_t Count;    ///< entries until the next sample, negative
  uint64_t Open;    ///< the stack pointer of the innermost sample that runs, 0 if there is none
  uint64_t Counted; ///< iterations, in loops that count them
  uint64_t Planned; ///< entries when Count will be zero: Planned + Count is their number
  struct Record *Record; ///< null before the first sample
  uint64_t OpenPushed;   ///< the same for a probe that has pushed its scratch register
  const char *Text;      ///< the description, for readers of the file
  uint32_t TextSize;
  uint8_t Bits;              ///< 32 or 64, of the value that each iteration moves
  int8_t StepSign;           ///< -1 if the step is subtracted
  uint8_t Shift;             ///< the step is Odd * 2^Shift
  uint64_t Inverse;          ///< of Odd, modulo 2^64; 0 if the first of Places has the step
  uint8_t Registers[Values]; ///< the numbers of registers to note at an entry, NoRegister for none
  const struct Place *Places;
  uint64_t Reserved[4];
  uint8_t
      SideBits[8]; ///< 32 or 64, of the first of Registers, which count sides of branches; then 0
};
_Static_assert(sizeof(struct Loop) == 128 && sizeof(struct Place) == 24,
               "running/x86.py writes them");

extern struct Loop __start_incc_probes2[] HIDDEN;
extern struct Loop __stop_incc_probes2[] HIDDEN;

/// The registers at a probe, and what the probe has pushed.
struct Frame {
  uint64_t Registers[16]; ///< by number; the stack pointer's place is unused
  uint64_t Return;
  uint64_t Bits;     ///< see below
  struct Loop *Loop; ///< the thread's copy
  uint64_t
      Pushed[]; ///< the flags, the scratch register, and rcx, as far as there are bits for them
};
enum { PushedScratch = 1, PushedRcx = 2, PushedFlags = 4, PlaceShift = 3, RedZone = 128 };

/// The distance from a loop to the thread's copy, 0 before the first probe of the thread. Objects
/// with probes define it as well, so that they can be linked without this file.
extern __thread int64_t incc_probe2_distance HIDDEN __attribute__((tls_model("initial-exec")));

//===--- What the file has --------------------------------------------------===//

struct Header {
  char Magic[8];
  uint64_t End; ///< offset of the first free byte
  uint64_t Process;
  uint64_t StartTicks,
      EndTicks;           ///< of the time-stamp counter; the second is 0 if the process was killed
  uint64_t StartTime;     ///< nanoseconds since 1970
  uint64_t ProcessorTime; ///< of the process at its end, in nanoseconds
  uint64_t Additions;     ///< in the chain
  uint64_t AdditionTicks[2]; ///< of the chain, at the start and at the end
  uint64_t InsideTicks;      ///< between the time stamps of a loop that takes no time
  uint64_t SampledTicks;     ///< of an entry and an exit that are a sample
  uint64_t CountedTicks;     ///< of 1,024 entries and exits that are none
  uint64_t FenceTicks;       ///< that a time stamp takes longer which waits until all work is done
  uint64_t ReadTicks;        ///< that a sample takes longer if it reads clocks and faults
  uint64_t FaultTicks;       ///< of the first write to a page
  uint64_t StartClock, EndClock; ///< nanoseconds of a clock that only runs forward
  uint64_t RecordSize;           ///< tells versions of the format apart
  char Program[1024];
};

/// Each part of the file begins with this, at a multiple of a page.
struct Part {
  char Magic[8];
  uint64_t Size; ///< in bytes, with this header
  uint64_t Kind; ///< a PartKind
  uint64_t Module;
};
enum PartKind { ModulePart = 1, ThreadPart = 2, RecordsPart = 3 };

/// The weighted sums of samples. An entry's weight is the number of entries for which it stands.
struct Bucket {
  uint64_t Entries, Iterations, Ticks;
};

struct Example {
  uint64_t Weight, Iterations, Ticks, Values[Values];
};

/// A sample that is running.
struct Sample {
  uint64_t Stack;   ///< the stack pointer of its frame
  uint64_t Entries; ///< of the loop up to this one
  uint64_t Weight, Start, MovedFrom, Step, StepsFrom;
  uint64_t ReadAt, Stolen; ///< of the thread, at the entry
  uint64_t Faulting;       ///< 1 if there may be page faults
  uint64_t ReadsFaults;    ///< 1 if the thread's page faults were read
  uint64_t FaultsFrom;     ///< these, at the entry
  uint64_t At[Values];
};

/// A loop in a thread.
struct Record {
  uint64_t Loop; ///< its number in the module, from 1; 0 if the record is unused
  uint64_t Samples;
  uint64_t Lost;      ///< samples without an exit: left by an exception or longjmp
  uint64_t Disturbed; ///< samples that are left out, because another process may have run meanwhile
  uint64_t Weights, WeightSquares;
  uint64_t Ticks;                                  ///< the weighted sum over all buckets
  uint64_t Faults;                                 ///< the weighted sum of page faults
  unsigned __int128 TickSquares, IterationSquares; ///< sums of weight times square
  uint64_t Nested;                 ///< the weighted sum of entries within samples, by recursion
  uint64_t DoneWeights, DoneTicks; ///< the weighted sums of samples until all work was done
  uint64_t Moved[Sides];           ///< the weighted sums of what registers that count sides moved
  uint64_t Last;                   ///< the number of entries for which samples stand
  uint64_t MayBeLong;              ///< 1 if an entry was long
  uint64_t ReadsFaults;            ///< how many samples still read the thread's page faults
  uint64_t FaultReads;             ///< how many have read them
  uint64_t FaultWeight;            ///< the weight of those since then in which there may be faults
  uint64_t Nests;                  ///< 1 if a sample began within another one
  uint64_t Escapes; ///< 1 if a sample began in the frame of another one, which had no exit
  uint64_t IsShort; ///< the number of samples, if entries are short
  uint64_t Running; ///< the samples that are running, if the loop is open
  struct Bucket Buckets[Buckets];
  struct Example Examples[Examples];
  struct Sample Open[Nesting]; ///< those that are running, the outermost first
};

/// A thread's part: this, then its copy of each loop.
struct Thread {
  struct Part Part;
  uint64_t Taken; ///< 1 while a thread has it
  struct Thread *Next;
  uint64_t Busy; ///< the stack pointer of the probe that is running, 0 for none
  uint64_t Random;
  struct Record *Free, *End;      ///< unused records
  uint64_t ReadAt;                ///< ticks when the clocks were read last
  uint64_t Clock, ProcessorClock; ///< these, in nanoseconds
  uint64_t Stolen;                ///< ticks in which the thread did not run, as far as was noticed
  uint64_t Reserved[2];
  struct Loop Loops[];
};

//===--- The state of a module ----------------------------------------------===//

// Nothing here is aligned to more than 8 bytes: that would move the program's own data, whose
// accesses might then cross lines of the caches. (So -fno-plt: entries in .got.plt move it, too.)
static struct Header *File;
static char Folder[PATH_MAX] __attribute__((aligned(1)));
static char Path[PATH_MAX + 128] __attribute__((aligned(1)));
/// The absolute path of this program or library.
static char ModulePath[PATH_MAX] __attribute__((aligned(1)));
static uint64_t Module; ///< the offset of its part, which is its name in the file
static struct Thread *Threads;
static pthread_key_t Key;
static int HasKey;
/// A word that the kernel sets to 0 in children. Those that were not made by `fork` are told by it:
/// the parent's parts of the file, which they share, have addresses that mean nothing to them.
static volatile uint64_t *IsOwn;

static inline uint64_t now(void) {
  uint32_t Low, High;
  // Without a fence: the core reads the counter when it gets there. So the times of loops that it
  // runs one after the other add up to the program's, however far it runs ahead.
  __asm__ volatile("rdtsc" : "=a"(Low), "=d"(High)::"memory");
  return (uint64_t)High << 32 | Low;
}

/// Returns the time when all instructions before have ended.
static inline uint64_t whenDone(void) {
  __asm__ volatile("lfence" ::: "memory");
  return now();
}

static uint64_t nanoseconds(clockid_t Clock) {
  struct timespec Time = {0, 0};
  clock_gettime(Clock, &Time);
  return (uint64_t)Time.tv_sec * 1000000000u + (uint64_t)Time.tv_nsec;
}

/// Returns the page faults of this thread that were served without a device.
static uint64_t pageFaults(void) {
  struct rusage Usage;
  return getrusage(RUSAGE_THREAD, &Usage) ? 0 : (uint64_t)Usage.ru_minflt;
}

static void *mapped(uint64_t Offset, uint64_t Size) {
  // A larger file than the limit would cost the process a signal.
  struct rlimit Limit;
  if (getrlimit(RLIMIT_FSIZE, &Limit) == 0 && Offset + Size > Limit.rlim_cur)
    return NULL;
  // The program must notice nothing: neither may `errno` change, nor may a request to cancel the
  // thread take effect here.
  int Error = errno, Cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &Cancel);
  void *Memory = MAP_FAILED;
  // The file is opened anew each time, because programs close files that they did not open.
  int Descriptor = open(Path, O_RDWR | O_CLOEXEC);
  if (Descriptor >= 0) {
    // Without space for it, a write to the file's memory would kill the process.
    if (posix_fallocate(Descriptor, (off_t)Offset, (off_t)Size) == 0)
      Memory = mmap(NULL, Size, PROT_READ | PROT_WRITE, MAP_SHARED, Descriptor, (off_t)Offset);
    close(Descriptor);
  }
  pthread_setcancelstate(Cancel, NULL);
  errno = Error;
  return Memory == MAP_FAILED ? NULL : Memory;
}

/// Extends the file by a part for `Size` bytes with its header. Returns null if that fails.
static struct Part *newPart(enum PartKind Kind, uint64_t Size, uint64_t *Offset) {
  Size = (Size + Page - 1) / Page * Page;
  uint64_t At = __atomic_fetch_add(&File->End, Size, __ATOMIC_RELAXED);
  if (At + Size > LargestFile)
    return NULL;
  struct Part *New = mapped(At, Size);
  if (!New)
    return NULL;
  New->Size = Size;
  New->Kind = Kind;
  New->Module = Kind == ModulePart ? At : Module;
  __builtin_memcpy(New->Magic, "inccpart", 8);
  if (Offset)
    *Offset = At;
  return New;
}

//===--- Threads ------------------------------------------------------------===//

static void setCounts(int64_t Count) {
  for (struct Loop *Each = __start_incc_probes2; Each != __stop_incc_probes2; ++Each)
    Each->Count = Count;
}

/// Tells the exits of a loop in which frame a sample runs; 0 for none.
static void setOpen(struct Loop *Copy, uint64_t Stack) {
  Copy->Open = Stack;
  Copy->OpenPushed = Stack ? Stack - RedZone - 8 : 0;
}

static uint64_t loops(void) { return (uint64_t)(__stop_incc_probes2 - __start_incc_probes2); }

/// Reads the clocks unless they were read recently, and notes for how long the thread did not run.
static void readClocks(struct Thread *Own) {
  uint64_t Ticks = now();
  if (Own->ReadAt && Ticks - Own->ReadAt < RecentTicks)
    return;
  uint64_t Clock = nanoseconds(CLOCK_MONOTONIC), Ran = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  uint64_t Waited = Clock - Own->Clock - (Ran - Own->ProcessorClock);
  // The clocks are not read at the same time.
  if (Own->ReadAt && (int64_t)Waited > 2000 && Clock > File->StartClock)
    Own->Stolen += (uint64_t)((unsigned __int128)Waited * (Ticks - File->StartTicks) /
                              (Clock - File->StartClock));
  Own->ReadAt = Ticks;
  Own->Clock = Clock;
  Own->ProcessorClock = Ran;
}

/// Gives this thread a part of the file: one that an ended thread has left, or a new one. If that
/// fails, nothing more is recorded for new threads of this module.
static struct Thread *attach(void) {
  struct Thread *Own;
  for (Own = __atomic_load_n(&Threads, __ATOMIC_ACQUIRE); Own; Own = Own->Next)
    if (!__atomic_exchange_n(&Own->Taken, 1, __ATOMIC_ACQUIRE))
      break;
  if (!Own) {
    Own = (struct Thread *)newPart(ThreadPart, sizeof *Own + loops() * sizeof(struct Loop), NULL);
    if (!Own) {
      setCounts(SwitchedOff);
      return NULL;
    }
    Own->Taken = 1;
    Own->Random = now() | 1;
    for (uint64_t I = 0; I != loops(); ++I)
      Own->Loops[I].Count = -1, Own->Loops[I].Planned = 1;
    Own->Next = __atomic_load_n(&Threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&Threads, &Own->Next, Own, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
      ;
  }
  for (uint64_t I = 0; I != loops(); ++I)
    setOpen(Own->Loops + I, 0);
  Own->Busy = 0;
  Own->ReadAt = 0;
  readClocks(Own);
  incc_probe2_distance = (char *)Own->Loops - (char *)__start_incc_probes2;
  if (HasKey)
    pthread_setspecific(Key, Own);
  return Own;
}

static void detach(void *Own) {
  incc_probe2_distance = 0;
  __atomic_store_n(&((struct Thread *)Own)->Taken, 0, __ATOMIC_RELEASE);
}

static struct Thread *self(void) {
  if (!incc_probe2_distance)
    return NULL;
  return (struct Thread *)((char *)__start_incc_probes2 + incc_probe2_distance -
                           offsetof(struct Thread, Loops));
}

/// Switches the probes of a child off that was not made by `fork`. Returns 0 in all other
/// processes.
static int isStranger(struct Loop *Copy) {
  if (!IsOwn || *IsOwn)
    return 0;
  // Probes that may not change the flags recognise a sample by a count of 0 alone.
  Copy->Planned += (uint64_t)Copy->Count + 1;
  Copy->Count = -1;
  File = NULL;
  incc_probe2_distance = 0;
  setCounts(SwitchedOff);
  return 1;
}

/// Marks the thread as inside of a probe. Returns 0 if it was already: a signal handler runs loops.
static int begin(struct Thread *Own, const struct Frame *Frame) {
  uint64_t Stack = (uint64_t)Frame;
  // A probe further down the stack than this one has been left by a jump out of a signal handler.
  if (Own->Busy && Own->Busy >= Stack)
    return 0;
  Own->Busy = Stack;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return 1;
}

static void end(struct Thread *Own) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  Own->Busy = 0;
}

//===--- Samples ------------------------------------------------------------===//

static struct Record *newRecord(struct Thread *Own, struct Loop *Copy) {
  if (Own->Free == Own->End) {
    enum { Together = 25 };
    struct Part *New = newPart(RecordsPart, sizeof *New + Together * sizeof(struct Record), NULL);
    if (!New)
      return NULL;
    Own->Free = (struct Record *)(New + 1);
    Own->End = Own->Free + Together;
  }
  struct Record *Free = Own->Free++;
  Free->Loop = (uint64_t)(Copy - Own->Loops) + 1;
  return Free;
}

/// Returns the next number of a xorshift generator (G. Marsaglia, 2003).
static uint64_t randomNumber(struct Thread *Own) {
  Own->Random ^= Own->Random << 13;
  Own->Random ^= Own->Random >> 7;
  return Own->Random ^= Own->Random << 17;
}

static uint64_t meanTicks(const struct Record *Record) {
  return Record->Weights ? Record->Ticks / (Record->Weights + Record->Nested) + 1 : 1;
}

/// Returns 1 if other processes may have run during an entry, as far as those before it tell.
static int isTimed(const struct Record *Record) {
  return Record->MayBeLong || meanTicks(Record) > TimedTicks;
}

/// Returns a number of entries until the next sample, such that samples take half a per cent of the
/// loop's time, and that no regular pattern of entries meets them. Within a sample, others would
/// lengthen it.
static uint64_t nextPeriod(struct Thread *Own, const struct Record *Record, int IsNested) {
  enum { Unknown = 256 };
  if (Record->Samples < AllSampled && !IsNested)
    return 1;
  if (!Record->Weights)
    return Unknown;
  uint64_t Period = File->SampledTicks * 200 / meanTicks(Record);
  if (Period < 2)
    return 1;
  return Period / 2 + randomNumber(Own) % Period + 1;
}

/// Returns the registers before the probe, and the stack pointer in its place.
static void undo(struct Frame *Frame) {
  uint64_t *Pushed = Frame->Pushed;
  if (Frame->Bits & PushedFlags)
    ++Pushed;
  if (Frame->Bits & PushedScratch)
    ++Pushed;
  if (Frame->Bits & PushedRcx)
    Frame->Registers[1] = *Pushed++;
  Frame->Registers[4] = (uint64_t)Pushed + RedZone;
}

/// Ends a sample that does not count. The next one stands for its entries as well.
static void drop(struct Record *Record, const struct Sample *Sample, uint64_t *Reason) {
  Record->Last -= Sample->Weight;
  ++*Reason;
}

static const struct Place *placeOf(const struct Loop *Loop, const struct Frame *Frame) {
  return Loop->Places + (Frame->Bits >> PlaceShift);
}

static uint64_t valueAt(const struct Place *Place, const struct Loop *Loop, const struct Loop *Copy,
                        const struct Frame *Frame) {
  if (Place->Register == NoRegister)
    return Copy->Counted;
  uint64_t Value = Frame->Registers[Place->Register];
  if (!Place->IsMemory)
    return Value;
  const char *Address = (const char *)Value + Place->Displacement;
  return Loop->Bits == 32 ? *(const uint32_t *)Address : *(const uint64_t *)Address;
}

/// Returns where to write the time of the entry.
HIDDEN uint64_t *incc_probe2_entered(struct Frame *Frame) {
  uint64_t *Nowhere = Frame->Registers + 4;
  struct Loop *Copy = Frame->Loop;
  if (isStranger(Copy))
    return Nowhere;
  struct Thread *Own = self();
  if (!Own) {
    // The probe has counted in the module's own loop.
    struct Loop *Shared = Copy;
    if (!File || !(Own = attach()))
      return Nowhere;
    Copy = Own->Loops + (Shared - __start_incc_probes2);
    Shared->Count = -1;
    if (++Copy->Count < 0)
      return Nowhere;
  }
  uint64_t Entries = Copy->Planned + (uint64_t)Copy->Count;
  if (!begin(Own, Frame)) {
    Copy->Planned = Entries + 1;
    Copy->Count = -1;
    return Nowhere;
  }
  undo(Frame);
  struct Record *Record = Copy->Record;
  if (!Record)
    Record = Copy->Record = newRecord(Own, Copy);
  if (!Record) {
    Copy->Count = SwitchedOff;
    Copy->Planned = Entries - (uint64_t)SwitchedOff;
    end(Own);
    return Nowhere;
  }
  uint64_t Stack = Frame->Registers[4];
  uint64_t Running = Copy->Open ? Record->Running : 0;
  // Frames at this place and further down the stack have ended without an exit.
  for (; Running && Record->Open[Running - 1].Stack <= Stack; --Running) {
    drop(Record, Record->Open + Running - 1, &Record->Lost);
    Record->Escapes = 1;
  }
  uint64_t Period = nextPeriod(Own, Record, Running != 0);
  Copy->Planned = Entries + Period;
  Copy->Count = -(int64_t)Period;
  Record->Nests |= Running != 0;
  struct Sample *Sample = Record->Open + Running;
  if (Running == Nesting) {
    setOpen(Copy, Sample[-1].Stack);
    end(Own);
    return Nowhere;
  }
  Record->Running = Running + 1;
  Sample->Stack = Stack;
  Sample->Entries = Entries;
  Sample->Weight = Entries - Record->Last;
  Record->Last = Entries;
  const struct Loop *Loop = (const struct Loop *)((char *)Copy - incc_probe2_distance);
  const struct Place *Place = placeOf(Loop, Frame);
  Sample->MovedFrom = valueAt(Place, Loop, Copy, Frame) - (uint64_t)Place->Offset;
  Sample->StepsFrom = (uint64_t)Place->Steps;
  if (!Loop->Inverse)
    Sample->Step = valueAt(Loop->Places, Loop, Copy, Frame) * (uint64_t)Loop->StepSign;
  for (int I = 0; I != Values && Loop->Registers[I] != NoRegister; ++I)
    Sample->At[I] = Frame->Registers[Loop->Registers[I]];
  setOpen(Copy, Stack);
  // Of the first entry, nothing is known.
  int MayBeLong = !Record->Samples || isTimed(Record);
  if (MayBeLong)
    readClocks(Own);
  Sample->ReadAt = Own->ReadAt;
  Sample->Stolen = Own->Stolen;
  Sample->Faulting = MayBeLong || Record->ReadsFaults;
  // Reading faults takes at most half a per cent of the loop's time.
  Sample->ReadsFaults =
      Sample->Faulting && Record->FaultReads * File->ReadTicks * 200 <= Record->Ticks;
  if (Sample->ReadsFaults)
    Sample->FaultsFrom = pageFaults();
  end(Own);
  return &Sample->Start;
}

static uint64_t iterations(const struct Loop *Loop, const struct Loop *Copy,
                           const struct Sample *Sample, const struct Frame *Frame) {
  const struct Place *Place = placeOf(Loop, Frame);
  uint64_t Distance =
      valueAt(Place, Loop, Copy, Frame) - (uint64_t)Place->Offset - Sample->MovedFrom;
  uint64_t Rounds = (uint64_t)Place->Rounds;
  if (Loop->Inverse) {
    // The step divides the distance, so its odd part is divided by as by any inverse. The sign of
    // the step is in the inverse. With 32 bits, only the lower bits of the quotient are right.
    Distance *= Loop->Inverse;
    return ((Loop->Bits == 32 ? (uint32_t)Distance : Distance) >> Loop->Shift) + Rounds;
  }
  int64_t Step = Loop->Bits == 32 ? (int32_t)Sample->Step : (int64_t)Sample->Step;
  if (Step == 0)
    return Rounds; // It was left in the first iteration: each would have been the same.
  if (Step < 0)
    Step = -Step, Distance = -Distance;
  Distance = Loop->Bits == 32 ? (uint32_t)Distance : Distance;
  return Distance / (uint64_t)Step + Sample->StepsFrom - (uint64_t)Place->Steps + Rounds;
}

/// Adds the page faults of a sample to its loop's, and decides whether the next ones read them.
///
/// Reading them takes longer than most entries. So samples begin with it when one took longer than
/// the mean by a page fault's time, and go on for long if that was the reason.
static void addFaults(struct Record *Record, const struct Sample *Sample, uint64_t Ticks) {
  enum { Suspected = 8, Confirmed = 1024 };
  uint64_t Faults = Sample->ReadsFaults ? pageFaults() - Sample->FaultsFrom : 0;
  if (Sample->Faulting)
    Record->FaultWeight += Sample->Weight;
  if (Sample->ReadsFaults) {
    Record->Faults += Record->FaultWeight * Faults;
    Record->FaultWeight = 0;
    ++Record->FaultReads;
  }
  if (Record->ReadsFaults)
    --Record->ReadsFaults;
  if (Faults)
    Record->ReadsFaults = Confirmed;
  else if (!Record->ReadsFaults && Ticks > meanTicks(Record) + File->FaultTicks)
    Record->ReadsFaults = Suspected;
}

HIDDEN void incc_probe2_left(struct Frame *Frame, uint64_t End) {
  struct Loop *Copy = Frame->Loop;
  uint64_t Done = Copy->Record && Copy->Record->IsShort % DoneEach == DoneEach - 1 ? whenDone() : 0;
  struct Thread *Own = self();
  if (!Own || (IsOwn && !*IsOwn) || !begin(Own, Frame))
    return;
  undo(Frame);
  struct Record *Record = Copy->Record;
  struct Sample *Sample = Record->Open + --Record->Running;
  setOpen(Copy, Record->Running ? Sample[-1].Stack : 0);
  const struct Loop *Loop = (const struct Loop *)((char *)Copy - incc_probe2_distance);
  uint64_t Nested = Copy->Planned + (uint64_t)Copy->Count - Sample->Entries;
  // If there were entries since, and not from within this one, it had no exit.
  if (Nested && (!Record->Nests || Record->Escapes)) {
    drop(Record, Sample, &Record->Lost);
    end(Own);
    return;
  }
  uint64_t Ticks = End - Sample->Start;
  if (Ticks > LongTicks || isTimed(Record)) {
    readClocks(Own);
    uint64_t Stolen = Own->Stolen - Sample->Stolen;
    Record->MayBeLong |= Ticks > LongTicks;
    // Others may have run during the entry, or between the last reading and it.
    if (Stolen > Ticks / 8 && Sample->Start - Sample->ReadAt > RecentTicks) {
      drop(Record, Sample, &Record->Disturbed);
      end(Own);
      return;
    }
    Ticks = Ticks > Stolen ? Ticks - Stolen : 0;
  }
  addFaults(Record, Sample, Ticks / (Nested + 1));
  Ticks = Ticks > File->InsideTicks ? Ticks - File->InsideTicks : 0;
  uint64_t Iterations = iterations(Loop, Copy, Sample, Frame);
  uint64_t Weight = Sample->Weight;
  ++Record->Samples;
  Record->IsShort = meanTicks(Record) < ShortTicks ? Record->Samples : 0;
  if (Done && !Nested) {
    Done -= Sample->Start;
    Record->DoneWeights += Weight;
    // The probes' own time is hidden if there is work to wait for.
    Record->DoneTicks += Weight * (Done > File->FenceTicks ? Done - File->FenceTicks : 0);
  }
  Record->Weights += Weight;
  Record->WeightSquares += Weight * Weight;
  Record->Ticks += Weight * Ticks;
  Record->Nested += Weight * Nested;
  for (int I = 0; I != Sides && Loop->SideBits[I]; ++I) {
    uint64_t Moved = Frame->Registers[Loop->Registers[I]] - Sample->At[I];
    Record->Moved[I] += Weight * (Loop->SideBits[I] == 32 ? (uint64_t)(int32_t)Moved : Moved);
  }
  // With recursion, the share of an entry in what it contains.
  uint64_t OwnTicks = Ticks / (Nested + 1);
  uint64_t OwnIterations =
      placeOf(Loop, Frame)->Register == NoRegister ? Iterations / (Nested + 1) : Iterations;
  Record->TickSquares += (unsigned __int128)(OwnTicks * Weight) * OwnTicks;
  Record->IterationSquares += (unsigned __int128)(OwnIterations * Weight) * OwnIterations;
  int Number = OwnIterations ? 64 - __builtin_clzll(OwnIterations) : 0;
  struct Bucket *Bucket = Record->Buckets + (Number < Buckets ? Number : Buckets - 1);
  Bucket->Entries += Weight;
  Bucket->Iterations += Weight * Iterations;
  Bucket->Ticks += Weight * Ticks;
  // Each sample has the same chance to be among the examples (reservoir sampling).
  uint64_t Place = Record->Samples - 1;
  if (Place >= Examples) {
    Place = randomNumber(Own) % Record->Samples;
  }
  if (Place < Examples) {
    struct Example *Example = Record->Examples + Place;
    Example->Weight = Weight;
    Example->Iterations = Iterations;
    Example->Ticks = Ticks;
    for (int I = 0; I != Values; ++I)
      Example->Values[I] = Sample->At[I];
  }
  end(Own);
}

// The registers of a frame are stored by number. Signal handlers can unwind the stack from each
// instruction. The vector registers are untouched: this file is compiled for general-purpose
// registers only.
//
// As little code as possible is between the time stamps: samples are so rare that it comes from
// outside of the L1 instruction cache, which would lengthen short entries.
#define THUNK(Name, Code)                                                                          \
  __asm__(".text\n"                                                                                \
          ".globl " Name "\n"                                                                      \
          ".hidden " Name "\n"                                                                     \
          ".type " Name ", @function\n" Name ":\n"                                                 \
          ".cfi_startproc\n"                                                                       \
          "endbr64\n"                                                                              \
          "lea -128(%rsp), %rsp\n"                                                                 \
          ".cfi_adjust_cfa_offset 128\n" Code "lea 128(%rsp), %rsp\n"                              \
          ".cfi_adjust_cfa_offset -128\n"                                                          \
          "ret\n"                                                                                  \
          ".cfi_endproc\n"                                                                         \
          ".size " Name ", .-" Name "\n")
#define STORE(Register, At) "mov %" #Register ", " #At "(%rsp)\n"
#define LOAD(Register, At) "mov " #At "(%rsp), %" #Register "\n"
#define OTHERS(Move)                                                                               \
  Move(rbx, 24) Move(rbp, 40) Move(rsi, 48) Move(rdi, 56) Move(r8, 64) Move(r9, 72) Move(r10, 80)  \
      Move(r11, 88) Move(r12, 96) Move(r13, 104) Move(r14, 112) Move(r15, 120)
#define CALL(Function)                                                                             \
  ".cfi_rel_offset %rbx, 24\n"                                                                     \
  "mov %rsp, %rdi\n"                                                                               \
  "mov %rsp, %rbx\n"                                                                               \
  ".cfi_def_cfa_register %rbx\n"                                                                   \
  "and $-16, %rsp\n"                                                                               \
  "call " Function "\n"                                                                            \
  "mov %rbx, %rsp\n"                                                                               \
  ".cfi_def_cfa_register %rsp\n"
#define TIME "rdtsc\nshl $32, %rdx\nor %rax, %rdx\n"
// clang-format off
THUNK("incc_probe2_enter",
      STORE(rax, 0) STORE(rcx, 8) STORE(rdx, 16) OTHERS(STORE)
      CALL("incc_probe2_entered")
      "mov %rax, %rcx\n"
      OTHERS(LOAD) ".cfi_restore %rbx\n"
      TIME
      "mov %rdx, (%rcx)\n"
      LOAD(rax, 0) LOAD(rdx, 16) LOAD(rcx, 8));
THUNK("incc_probe2_leave",
      STORE(rax, 0) STORE(rdx, 16)
      TIME
      STORE(rcx, 8) OTHERS(STORE)
      "mov %rdx, %rsi\n"
      CALL("incc_probe2_left")
      LOAD(rax, 0) LOAD(rdx, 16) LOAD(rcx, 8) OTHERS(LOAD) ".cfi_restore %rbx\n");
// clang-format on

//===--- The costs of probes and the core's clock ---------------------------===//

// A loop of this file's own, without a body: what a probe costs is measured here. The code is that
// of incc/running/x86.py.
__asm__(".pushsection incc_probes2, \"aw\", @progbits\n"
        ".balign 8\n"
        "incc_probe2_own:\n"
        ".quad 0, 0, 0, 0, 0, 0, 0\n"
        ".long 0\n"
        ".byte 64, 1, 0, 0\n"
        ".quad 1\n"
        ".fill 8, 1, 255\n"
        ".quad incc_probe2_own_place, 0, 0, 0, 0, 0\n"
        ".popsection\n"
        ".pushsection .tbss.incc_probe2_distance, \"awTG\", @nobits, incc_probe2_distance, comdat\n"
        ".weak incc_probe2_distance\n"
        ".hidden incc_probe2_distance\n"
        ".type incc_probe2_distance, @object\n"
        ".size incc_probe2_distance, 8\n"
        ".balign 8\n"
        "incc_probe2_distance: .zero 8\n"
        ".popsection\n"
        ".pushsection .rodata\n"
        "incc_probe2_own_place: .quad 0, 0, 255\n"
        ".popsection\n");
extern struct Loop incc_probe2_own HIDDEN;

static inline void enterAndLeave(void) {
  __asm__ volatile("mov incc_probe2_distance@gottpoff(%%rip), %%r11\n"
                   "mov %%fs:(%%r11), %%r11\n"
                   "add incc_probe2_own@GOTPCREL(%%rip), %%r11\n"
                   "incq (%%r11)\n"
                   "js 1f\n"
                   "lea -128(%%rsp), %%rsp\n"
                   "push %%r11\n"
                   "push $0\n"
                   "call incc_probe2_enter\n"
                   "lea 144(%%rsp), %%rsp\n"
                   "1: mov incc_probe2_distance@gottpoff(%%rip), %%r11\n"
                   "mov %%fs:(%%r11), %%r11\n"
                   "add incc_probe2_own@GOTPCREL(%%rip), %%r11\n"
                   "cmpq %%rsp, 8(%%r11)\n"
                   "jne 2f\n"
                   "lea -128(%%rsp), %%rsp\n"
                   "push %%r11\n"
                   "push $0\n"
                   "call incc_probe2_leave\n"
                   "lea 144(%%rsp), %%rsp\n"
                   "2:\n" ::
                       : "r11", "cc", "memory");
}

static uint64_t smaller(uint64_t A, uint64_t B) { return A < B ? A : B; }

/// Returns the ticks of a chain of additions, each of which takes a cycle of the core.
static uint64_t additionTicks(uint64_t Additions) {
  uint64_t Best = UINT64_MAX;
  for (int Again = 0; Again != 3; ++Again) {
    uint64_t Sum = 0, One = 1, Rounds = Additions / 64, Start = now();
    // Cores may leave out the addition of a constant, but not that of a register.
    __asm__ volatile("1: .rept 64\n"
                     "add %1, %0\n"
                     ".endr\n"
                     "dec %2\n"
                     "jnz 1b\n"
                     : "+r"(Sum), "+r"(One), "+r"(Rounds)::"cc");
    Best = smaller(Best, now() - Start);
  }
  return Best;
}

/// Returns the median of some ticks, which are sorted.
static uint64_t median(uint64_t Ticks[Examples]) {
  for (int I = 1; I < Examples; ++I)
    for (int J = I; J > 0 && Ticks[J] < Ticks[J - 1]; --J) {
      uint64_t Larger = Ticks[J - 1];
      Ticks[J - 1] = Ticks[J];
      Ticks[J] = Larger;
    }
  return Ticks[Examples / 2];
}

/// Measures what a page fault takes, and what reading the number of page faults and the clocks
/// does.
static void measureReads(void) {
  char *Fresh =
      mmap(NULL, Examples * Page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Fresh == MAP_FAILED)
    return;
  uint64_t Faults[Examples], Reads[Examples], Fences = 0;
  for (int I = 0; I != Examples; ++I) {
    uint64_t Start = now();
    *(volatile char *)(Fresh + I * Page) = 1;
    Faults[I] = now() - Start;
    Start = now();
    nanoseconds(CLOCK_MONOTONIC);
    nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    pageFaults();
    Reads[I] = now() - Start;
    // The counter may count in large steps, so that a mean tells more than a median.
    Start = whenDone();
    uint64_t Between = now() - Start;
    Start = now();
    Fences += whenDone() - Start - Between;
  }
  munmap(Fresh, Examples * Page);
  File->FaultTicks = median(Faults);
  File->ReadTicks = 2 * median(Reads);
  File->FenceTicks = (int64_t)Fences > 0 ? Fences / Examples : 0;
}

static void measureCosts(void) {
  struct Thread *Own = self();
  if (!Own && !(Own = attach()))
    return;
  enum { Rounds = 1024 };
  struct Loop *Copy = Own->Loops + (&incc_probe2_own - __start_incc_probes2);
  uint64_t Counted = UINT64_MAX;
  for (int Again = 0; Again != 8; ++Again) {
    Copy->Count = SwitchedOff;
    uint64_t Start = now();
    for (int I = 0; I != Rounds; ++I)
      enterAndLeave();
    Counted = smaller(Counted, now() - Start);
  }
  // Between samples are entries that are none, so that a sample's branches are mispredicted as they
  // are in programs.
  uint64_t Pairs[Examples];
  for (int I = 0; I != Examples; ++I) {
    Copy->Count = SwitchedOff;
    for (int J = 0; J != 64; ++J)
      enterAndLeave();
    Copy->Count = -1;
    uint64_t Start = now();
    enterAndLeave();
    Pairs[I] = now() - Start;
  }
  if (!Copy->Record)
    return;
  uint64_t Between[Examples];
  for (int I = 0; I != Examples; ++I)
    Between[I] = Copy->Record->Examples[I].Ticks;
  uint64_t Sampled = median(Pairs), Inside = median(Between);
  Copy->Record->Loop = 0;
  File->CountedTicks = Counted;
  File->SampledTicks = Sampled;
  File->InsideTicks = Inside;
}

//===--- The file -----------------------------------------------------------===//

/// Returns when this process was started, in clock ticks: with its number it is the process's name.
static unsigned long long startOfProcess(void) {
  char Text[1024];
  int Descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t Size = Descriptor < 0 ? 0 : read(Descriptor, Text, sizeof Text - 1);
  if (Descriptor >= 0)
    close(Descriptor);
  Text[Size > 0 ? Size : 0] = 0;
  // The 22nd field. The second is in parentheses, and may have blanks.
  const char *At = strrchr(Text, ')');
  for (int Field = 2; At && Field != 22; ++Field)
    if ((At = strchr(At, ' ')))
      ++At;
  return At ? strtoull(At, NULL, 10) : 0;
}

/// Opens the process's file, which is made by its first module. Returns 0 if that fails.
static int openFile(const char *In) {
  struct Header *New;
  const char *Program = program_invocation_short_name;
  int Size = snprintf(Path, sizeof Path, "%s/%.64s-%ld-%llu.probes", In, Program, (long)getpid(),
                      startOfProcess());
  if (Size <= 0 || (size_t)Size >= sizeof Path)
    return 0;
  int Descriptor = open(Path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  int Made = Descriptor >= 0;
  if (Made)
    close(Descriptor);
  if (!(New = mapped(0, Page))) {
    if (Made)
      unlink(Path);
    return 0;
  }
  if (Made) {
    New->End = Page;
    New->Process = (uint64_t)getpid();
    New->RecordSize = sizeof(struct Record);
    New->StartTicks = now();
    New->StartClock = nanoseconds(CLOCK_MONOTONIC);
    New->StartTime = nanoseconds(CLOCK_REALTIME);
    ssize_t Length = readlink("/proc/self/exe", New->Program, sizeof New->Program - 1);
    New->Program[Length > 0 ? Length : 0] = 0;
    __builtin_memcpy(New->Magic, "inccprb2", 8);
  }
  File = New;
  return 1;
}

/// Notes the path of this module while a relative one still leads there.
static void nameModule(void) {
  Dl_info Own;
  const char *Name = dladdr && dladdr((void *)nameModule, &Own) ? Own.dli_fname : NULL;
  // The name of the program itself is how it was called, which need not be a path.
  if (!Name || !strcmp(Name, program_invocation_name))
    Name = File->Program;
  if (!realpath(Name, ModulePath))
    snprintf(ModulePath, sizeof ModulePath, "%s", Name);
}

static int addModule(void) {
  uint64_t Size = sizeof(struct Part) + strlen(ModulePath) + 1;
  for (struct Loop *Each = __start_incc_probes2; Each != __stop_incc_probes2; ++Each)
    Size += Each->TextSize + 1;
  struct Part *Part = newPart(ModulePart, Size, &Module);
  if (!Part)
    return 0;
  // The module's path, and a line for each loop.
  char *To = stpcpy((char *)(Part + 1), ModulePath);
  *To++ = '\n';
  for (struct Loop *Each = __start_incc_probes2; Each != __stop_incc_probes2; ++Each) {
    __builtin_memcpy(To, Each->Text, Each->TextSize);
    To += Each->TextSize;
    *To++ = '\n';
  }
  return 1;
}

enum { Additions = 64 * 512 };

/// Begins a file for a child. Its memory is a copy of the parent's, but the parts of the parent's
/// file are shared.
static void startInChild(void) {
  int Error = errno;
  struct Header *Parents = File;
  if (!Parents)
    return;
  File = NULL;
  Threads = NULL;
  incc_probe2_distance = 0;
  if (IsOwn)
    *IsOwn = 1;
  int Recording = openFile(Folder) && addModule();
  errno = Error;
  setCounts(Recording ? -1 : SwitchedOff);
  if (!Recording)
    return;
  File->Additions = Parents->Additions;
  File->AdditionTicks[0] = Parents->AdditionTicks[0];
  File->InsideTicks = Parents->InsideTicks;
  File->SampledTicks = Parents->SampledTicks;
  File->CountedTicks = Parents->CountedTicks;
  File->ReadTicks = Parents->ReadTicks;
  File->FaultTicks = Parents->FaultTicks;
  File->FenceTicks = Parents->FenceTicks;
}

// 101 is the first priority that programs may use: other constructors may run loops.
__attribute__((constructor(101))) static void start(void) {
  setCounts(SwitchedOff);
  const char *Named = secure_getenv("INCC_PROBES");
  // Programs may change their folder, or their environment. They begin with an `errno` of 0.
  int Recording = Named && *Named && realpath(Named, Folder) && openFile(Folder);
  if (Recording) {
    nameModule();
    Recording = addModule();
  }
  errno = 0;
  if (!Recording)
    return;
  HasKey = pthread_key_create(&Key, detach) == 0;
  IsOwn = mmap(NULL, Page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (IsOwn == MAP_FAILED)
    IsOwn = NULL;
  else
    *IsOwn = 1, madvise((void *)IsOwn, Page, MADV_WIPEONFORK);
  setCounts(-1);
  pthread_atfork(NULL, NULL, startInChild);
  if (!File->Additions) {
    File->AdditionTicks[0] = additionTicks(Additions);
    measureReads();
    measureCosts();
    File->Additions = Additions;
  }
}

__attribute__((destructor(101))) static void stop(void) {
  if (!File)
    return;
  File->AdditionTicks[1] = additionTicks(Additions);
  File->ProcessorTime = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  File->EndTicks = now();
  File->EndClock = nanoseconds(CLOCK_MONOTONIC);
  if (HasKey)
    pthread_key_delete(Key);
  HasKey = 0;
}
