// llvm-mca's options for AArch64: LLVM's text, flags and names of units; `//` marks nothing in ELF's assembly, as there.
//
// RUN: incc-mca --compat -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 %s | FileCheck %s
// RUN: incc-mca --compat -march=aarch64 -mtriple=x86_64-apple-macos -mcpu=neoverse-n1 %s | FileCheck %s --check-prefix=APPLE
// RUN: echo 2000008b | incc-mca --compat -mtriple=aarch64 -mcpu=neoverse-n1 --hex | FileCheck %s --check-prefix=HEX
// RUN: not incc-mca --compat -mtriple=aarch64 -mcpu=skylake %s 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not incc-mca --compat -mcpu=neoverse-n1 %s 2>&1 | FileCheck %s --check-prefix=X86
//
// CHECK-NOT:  Code Region
// CHECK:      Instructions: 500
// CHECK:      U {{ +}} dmb ish
// CHECK:      [1.0] - N1UnitD
// CHECK-NEXT: [1.1] - N1UnitD
//
// APPLE:      [0] Code Region - a
// APPLE:      Instructions: 100
//
// HEX:        {{^}} 1 {{.*}} add	x0, x1, x0
//
// OTHER:      error: 'skylake' is not a core of the target 'aarch64'
// X86:        error: 'neoverse-n1' is not a core of the target 'x86_64-pc-linux-gnu'
	add	x3, x3, 16
	// LLVM-MCA-BEGIN a
	ldr	q0, [x0,x3]
	// LLVM-MCA-END a
	dmb	ish
	st1	{v0.4s}, [x1]
	bne	.L1
