// AArch64 assembly is read without an assembler: loops, markers, write-back, and SVE as gcc writes it.
//
// RUN: incc-mca -mcpu=neoverse-v2 --auto --views=all %s | FileCheck %s
// RUN: incc-mca -mcpu=a64fx --auto %s | FileCheck %s --check-prefix=A64FX
// RUN: incc-mca -mcpu=neoverse-v2 %s | FileCheck %s --check-prefix=MARKED
// RUN: incc-scan -mcpu=thunderx2t99 --format=cycles %s | FileCheck %s --check-prefix=SCAN
// RUN: not incc-mca -mcpu=skylake --auto %s 2>&1 | FileCheck %s --check-prefix=OTHER
//
// The chain is the addition's alone: the load's pointer is ready a cycle after it was.
// CHECK:      Loop at .L3, {{.*}}
// CHECK-NEXT: 5 instructions, 20 bytes
// CHECK:      Bound by the loop-carried chain through d4 {{.*}}: 2 cycles
// CHECK:      Loop-carried dependencies
// CHECK:      2.00 {{.*}} d4
// CHECK-NEXT: 1.00 {{.*}} x0
//
// A64FX:      Loop at .L5, {{.*}}
// A64FX-NEXT: 6 instructions (1 not in the model), 24 bytes
// A64FX:      Note: assumes that an unknown instruction writes its first operand and reads the others: `foo` (line
//
// MARKED:     Straight-line code
// MARKED:     1 instruction, 4 bytes
//
// SCAN:       aarch64.s:sum 6
// OTHER:      aarch64.s: aarch64 assembly, but the machine model is of an x86 core
	.text
	.type	sum, %function
sum:
.L3:
	ldr	d5, [x0], 8
	// OSACA-BEGIN
	fadd	d4, d4, d5
	// OSACA-END
	cmp	x0, x1
	nop
	bne	.L3
	ret
	.size	sum, .-sum
	.type	scale, %function
scale:
.L5:
	ld1d	z0.d, p0/z, [x0, x1, lsl 3]
	fmul	z0.d, z0.d, z1.d
	foo	x3, x4
	st1d	z0.d, p0, [x0, x1, lsl 3]
	incd	x1
	b.any	.L5
	ret
	.size	scale, .-scale
