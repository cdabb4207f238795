# The cycles without parts of the work, for assembly and for machine code.
#
# RUN: incc-mca -mcpu=skylake --auto --views=decremental %s | FileCheck %s
# RUN: echo f30f1007f30f5807f30f1107ebf2 | incc-mca -mcpu=znver4 --hex --views=decremental | FileCheck %s --check-prefix=HEX
# RUN: echo 01d8ebfc | incc-mca -mcpu=znver4 --hex --views=decremental | FileCheck %s --check-prefix=NONE
#
# CHECK:      Simulated without some of the work ({{.*}} cycles per iteration with all of it):
# CHECK-NEXT: Cycles {{ *}}Gain  Without
# CHECK-NEXT: the load of (%rdi) (line 28)
# CHECK-NEXT: the load of (%rsi) (line 29)
# CHECK-NEXT: the store of (%rdi) (line 30)
# CHECK-NEXT: {{^}} {{ *}} -  {{ *}}-  push %rax (line 31): cannot be left out
# CHECK-NEXT: the 2 accesses to one array (lines 28, 30)
# CHECK-NEXT: all 2 loads
# CHECK-NEXT: all 2 stores, except line 31
# CHECK-NEXT: all 4 accesses to memory, except line 31
# CHECK-NEXT: floating-point arithmetic
# CHECK-NEXT: anything but floating-point arithmetic and branches, except line 31
#
# HEX:      the load of (%rdi) (instruction 0)
# HEX-NEXT: the load of (%rdi) (instruction 1)
# HEX-NEXT: the store of (%rdi) (instruction 2)
#
# NONE: The kernel neither accesses memory nor computes with floating-point numbers.

sum:
.L1:
	movsd	(%rdi), %xmm0
	addsd	(%rsi), %xmm0
	movsd	%xmm0, (%rdi)
	push	%rax
	addq	$8, %rdi
	cmpq	%rdi, %rdx
	jne	.L1
