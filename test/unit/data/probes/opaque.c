// Code behind loops that reads registers in ways that only its author knows: system calls, instructions as data.
#include <stdio.h>
#include <sys/syscall.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

// The arguments are in registers before the loop; the compiler may fill them anywhere.
NOINLINE static long system_call(const long *Values, long N) {
  long Sum = 0, Result;
  __asm__ volatile("movl %4, %%eax\n\t"
                   "movl $-1, %%edi\n\t"
                   "xorl %%esi, %%esi\n\t"
                   "xorl %%edx, %%edx\n\t"
                   "movl $12, %%r10d\n\t"
                   "1:\n\t"
                   "addq -8(%2,%3,8), %0\n\t"
                   "decq %3\n\t"
                   "jne 1b\n\t"
                   "syscall\n\t"
                   "movq %%rax, %1"
                   : "+r"(Sum), "=&r"(Result), "+&r"(Values), "+&r"(N)
                   : "i"(SYS_close)
                   : "rax", "rcx", "rdx", "rsi", "rdi", "r10", "r11", "memory", "cc");
  return Sum * 1000 + Result;
}

// .byte 0x01, 0xc8 is addl %ecx, %eax; 0x11, 0xd0 is adcl %edx, %eax.
NOINLINE static int bytes(const int *Values, long N) {
  int Sum;
  __asm__ volatile("xorl %%eax, %%eax\n\t"
                   "movl $1000000, %%ecx\n\t"
                   "movl $2000000, %%edx\n\t"
                   "1:\n\t"
                   "addl -4(%1,%2,4), %%eax\n\t"
                   "decq %2\n\t"
                   "jne 1b\n\t"
                   ".byte 0x01, 0xc8\n\t"
                   ".byte 0x11, 0xd0"
                   : "=&a"(Sum), "+r"(Values), "+r"(N)
                   :
                   : "rcx", "rdx", "memory", "cc");
  return Sum;
}

// A repeated comparison of nothing leaves the flags of the comparison before the loop's end as they are.
NOINLINE static int repeated(const char *One, const char *Other, long N, long Turns) {
  int Result = 0;
  __asm__ volatile("1:\n\t"
                   "decq %2\n\t"
                   "cmpq $-1, %2\n\t"
                   "jg 1b\n\t"
                   "repe; cmpsb\n\t"
                   "sete %b0"
                   : "+a"(Result), "+c"(N), "+r"(Turns), "+S"(One), "+D"(Other)
                   :
                   : "memory", "cc");
  return Result;
}

// Several instructions on one line, prefixes on lines of their own, repetitions.
NOINLINE static long written_by_hand(long *Value, long N) {
  long Sum = 5;
  for (long I = 0; I < N; ++I) {
    __asm__ volatile("lock; addq %1, (%0)" : : "r"(Value), "r"(I) : "memory", "cc");
    __asm__ volatile("lock\n\taddq %1, (%0)" : : "r"(Value), "r"(I) : "memory", "cc");
    __asm__ volatile(".rept 3\n\taddq %1, %0\n\t.endr" : "+r"(Sum) : "r"(I) : "cc");
  }
  return Sum + *Value;
}

int main(void) {
  long Longs[50], Total = 0;
  int Ints[50];
  for (int I = 0; I < 50; ++I)
    Longs[I] = Ints[I] = I;
  for (int Round = 0; Round < 100; ++Round) {
    Total += system_call(Longs, 50) + bytes(Ints, 50) + written_by_hand(Longs + 49, 9);
    Longs[49] = 49;
    Total += repeated("abc", "abc", Round % 4, 3) + repeated("abd", "abc", 3, 1 + Round % 4);
  }
  printf("%ld\n", Total);
  return 0;
}
