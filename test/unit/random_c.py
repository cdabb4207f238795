"""Random C programs with loops of all kinds, which end, and print what they have computed."""

from __future__ import annotations

from random import Random

HEAD = r"""#include <stdio.h>
typedef unsigned long u64; typedef unsigned u32; typedef unsigned char u8;
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
static u64 A[64]; static u32 B[64]; static u8 C[64]; static double D[64];
static long Fuel;
NOINLINE static void add(u64 *to, u64 what) { *to += what; }
"""

MAIN = r"""
int main(void) {
  u64 Sum = 0;
  for (int I = 0; I < 64; ++I) { A[I] = I * 0x9E3779B97F4A7C15u; B[I] = I * 2654435761u; C[I] = I * 37; }
  for (int I = 0; I < 64; ++I) D[I] = I * 0.5;
  for (u64 I = 0; I < ROUNDS; ++I) { Fuel = 20000; Sum = Sum * 31 + CALL; }
  for (int I = 0; I < 64; ++I) Sum = Sum * 31 + A[I] + B[I] + C[I] + (u64)(long)D[I];
  printf("%lx\n", Sum);
  return (int)(Sum & 63);
}
"""


_CLOBBERED = ("rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "rax", "rbx", "r12")


class _Function:
    """A function that is being written."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.number = number
        self.loops = 0
        self.labels = 0
        self.variables = [f"v{i}" for i in range(random.randint(3, 14))]
        self.walking: list[str] = []
        """The variables of the loops around this place, which only these change."""

    def value(self, depth: int = 2) -> str:
        """Return an expression of type u64."""
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice([*self.variables, *self.walking, f"{r.randint(0, 300)}u"])
        one, other = self.value(depth - 1), self.value(depth - 1)
        return r.choice(
            [
                f"({one} {r.choice(list('+-*^&|'))} {other})",
                f"({one} {r.choice(['<<', '>>'])} ({other} & 31))",
                f"({one} {r.choice(['<', '==', '>='])} {other} ? {self.value(0)} : {self.value(0)})",
                f"A[{one} & 63]",
                f"B[{one} & 63]",
                f"C[{one} & 63]",
                f"(u64)(u32)({one} * 3)",
                f"({one} / ({other} | 1))",
                f"local[{one} & 7]",
                f"(u64)__builtin_popcountl({one})",
            ]
        )

    def test(self) -> str:
        """Return a condition. Some need the carry of an addition, or the flags of a subtraction."""
        r = self.random
        one, other = self.value(1), self.value(1)
        return r.choice(
            [
                f"{one} {r.choice(['<', '>', '==', '!=', '<='])} {other}",
                f"(long)({one}) {r.choice(['<', '>'])} (long)({other})",
                f"__builtin_add_overflow({one}, {other}, &{r.choice(self.variables)})",
                f"__builtin_sub_overflow((u32)({one}), (u32)({other}), &small)",
                f"({one} & {1 << r.randint(0, 5)})",
                "real > D[3]",
            ]
        )

    def loop(self, depth: int) -> str:
        r = self.random
        self.loops += 1
        i = f"i{self.loops}"
        count = r.choice(["3", "7", "64", "100", f"({self.value(1)} & 15)", f"({self.value(1)} & 3)"])
        self.walking.append(i)
        body = self.block(depth - 1, r.randint(1, 3))
        if r.random() < 0.3:
            body += f"if ({self.test()}) {r.choice(['break', 'continue', 'break', f'return {self.value(1)}'])};\n"
        if r.random() < 0.15:
            body += f"if ({self.test()}) goto end;\n"
        self.walking.pop()
        fuel = "if (--Fuel < 0) return v0;\n"
        kind = r.randrange(16)
        if kind == 0:
            return f"for (u64 {i} = 0; {i} < {count}; ++{i}) {{\n{body}}}\n"
        if kind == 1:
            return f"for (u32 {i} = {count}; {i} > 0; {i} -= 1) {{\n{body}}}\n"
        if kind == 2:
            return f"for (u64 {i} = 1, s = ({self.value(1)} & 7) + 1; {i} < 90; {i} += s) {{\n{body}}}\n"
        if kind == 3:
            return f"{{ u32 {i} = 0; do {{\n{body.replace('continue;', ';')}}} while (++{i} < {count}); }}\n"
        if kind == 4:
            return f"{{ u64 {i} = {self.value(1)}; while ({self.test()}) {{ {fuel}{i} = {i} * 5 + 1;\n{body}}} }}\n"
        if kind == 5:
            return f"for (u64 *p = A, {i} = 0; p < A + 64; p += {r.choice(list('138'))}, {i} ^= *A) {{\n{body}}}\n"
        if kind == 6:
            return f"{{ u64 {i} = {count}; for (;;) {{ {fuel}if ({i}-- == 0) break;\n{body}}} }}\n"
        if kind == 7:
            exits = f"if ({self.test()}) break;\n{i} += 3;\nif ({i} > 99) break;\n"
            return f"{{ u64 {i} = 0; for (;;) {{ {fuel}{exits}{body}if ({self.test()}) break;\n}} }}\n"
        if kind == 8:
            ways = f"if ({self.test()}) ++{i}; else --e;\n"
            return f"{{ u64 {i} = 0, e = {count}; while ({i} < e) {{ {fuel}{ways}{body}}} }}\n"
        if kind == 9:
            return f"for (long {i} = {count}; {i} >= 0; {i} -= {r.randint(1, 9)}) {{\n{body}}}\n"
        if kind == 10:
            size, start = r.choice([("u8", 200), ("u32", (1 << 32) - 20), ("u64", -20)])
            return f"for ({size} {i} = {start}; {i} != 30; ++{i}) {{\n{body}}}\n"
        if kind == 11:
            step = f"(int)({self.value(1)} & 7) + 1"
            return f"for (int {i} = 90, s = {step}; {i} > 0; {i} -= s) {{\n{body}}}\n"
        if kind == 12:
            changed = f"if ({self.test()}) add(&{i}, {self.value(1)} & 3);\n"
            return f"for (u64 {i} = 0; {i} < 60; ++{i}) {{\n{changed}{body}}}\n"
        if kind == 13:
            inside = f"if ({self.test()}) {i} += 2; else {i} += 2;\nmiddle_{i}:;\n{body}"
            return f"{{ u64 {i} = 0; if ({self.test()}) goto middle_{i};\nwhile ({i} < 50) {{ {fuel}{inside}}} }}\n"
        if kind == 14:
            return f"for (local[2] = 0; local[2] < 40; local[2] += 2) {{ {fuel}u64 {i} = local[2];\n{body}}}\n"
        return f"for (u32 {i} = 0; {i} < {r.choice([7, 60])}u << 24; {i} += 1u << 24) {{\n{body}}}\n"

    def statement(self, depth: int) -> str:
        r = self.random
        to = r.choice(self.variables)
        kind = r.randrange(16)
        if depth and kind < 5:
            return self.loop(depth)
        if depth and kind == 5:
            cases = "".join(
                f"case {n}: {self.block(depth - 1, 1)}{r.choice(['break;', ''])}\n" for n in range(r.randint(2, 8))
            )
            return f"switch ({self.value(1)} & 7) {{\n{cases}default: ;\n}}\n"
        if depth and kind == 6:
            return f"if ({self.test()}) {{\n{self.block(depth - 1, 2)}}} else {{\n{self.block(depth - 1, 1)}}}\n"
        if kind == 7 and self.number:
            return f"{to} += f{r.randrange(self.number)}({self.value(1)}, {self.value(1)}, {r.randint(0, 9)});\n"
        if kind == 8:
            clobbers = ", ".join(f'"{name}"' for name in r.sample(_CLOBBERED, 4))
            return f'__asm__ volatile("addq $5, %0" : "+r"({to}) : : "cc", {clobbers});\n'
        if kind == 9:
            return f"{r.choice(list('ABC'))}[{self.value(1)} & 63] {r.choice(['=', '+='])} {self.value(1)};\n"
        if kind == 10:
            return f"local[{self.value(1)} & 7] ^= {self.value(1)};\n"
        if kind == 11:
            return f"real = real * 0.5 + D[{self.value(1)} & 63];\n"
        if kind == 12:
            return f"if ({self.test()}) {to} += {self.value(1)};\n"
        return f"{to} {r.choice(['=', '+=', '^=', '-='])} {self.value()};\n"

    def block(self, depth: int, count: int) -> str:
        return "".join(self.statement(depth) for _ in range(count))

    def text(self) -> str:
        body = self.block(3, self.random.randint(2, 5)) + self.loop(2)
        declared = ", ".join(f"{name} = {'abn'[i % 3]} * {i + 1}u" for i, name in enumerate(self.variables))
        result = " ^ ".join(self.variables)
        return (
            f"NOINLINE static u64 f{self.number}(u64 a, u64 b, u64 n) {{\n"
            f"if (--Fuel < 0) return a;\n"
            f"u64 {declared}; u32 small = 1; double real = 1; u64 local[8] = {{a, b, n}};\n"
            f"{body}goto end;\nend:\nreturn {result} ^ small ^ local[a & 7] ^ (u64)(long)real;\n}}\n"
        )


def random_program(seed: int) -> str:
    """Return the source of a program, which is the same for the same seed."""
    random = Random(seed)
    count = random.randint(1, 3)
    functions = [_Function(random, number).text() for number in range(count)]
    call = f"f{count - 1}(I, Sum, I * 3)"
    return HEAD + "".join(functions) + MAIN.replace("CALL", call).replace("ROUNDS", str(random.choice([3, 20, 200])))
