# A scalar dot product: every part of the text report, in order, in llvm-mca's columns.
#
# RUN: incc-mca -mcpu=skylake-avx512 --auto -timeline -timeline-max-iterations=2 %s | FileCheck %s --strict-whitespace
#
# CHECK:      incc 0.{{.*}} for Intel Skylake
# CHECK-NEXT: Model skylake-avx512 {{.*}}, chosen by -mcpu=skylake-avx512
#
# CHECK:      dot.c:4 in dot
# CHECK-NEXT: --------------
# CHECK-NEXT: Loop at .L3, {{.*}}sum.s:
# CHECK-NEXT: 5 instructions, 19 bytes, 5 µops; 2 flop, all scalar
# CHECK-NEXT: Per iteration 16 bytes loaded, 0 stored; 0.12 flop/byte
#
# CHECK:      Bound by the loop-carried chain through xmm0 (line [[FMA:[0-9]+]]): 4 cycles; 1.33 cycles without dependencies through registers.
# CHECK-NEXT: - Each addition waits for the previous one (a reduction chain, line [[FMA]]).
# CHECK-NOT:  The loop is not vectorised
#
# CHECK:      Iterations:        100
# CHECK-NEXT: Instructions:      500
# CHECK-NEXT: Total Cycles:      400
# CHECK-NEXT: Total uOps:        500
# CHECK:      Dispatch Width:    4
# CHECK-NEXT: uOps Per Cycle:    1.25
# CHECK-NEXT: IPC:               1.25
# CHECK-NEXT: Block RThroughput: 1.25
#
# CHECK:        Front end         1.25  5 µops at 4 per cycle
# CHECK:        Loop-carried      4.00  through xmm0, line [[FMA]]
# CHECK-NEXT:   Prediction        4.00
# CHECK-NEXT:   Critical path    10.00
#
# CHECK:      [1]    [2]    [3]    [4]    [5]    [6]    Instructions:
# CHECK-NEXT:  1      6     0.50    *                   vmovsd (%rdi,%rax,8), %xmm1
# CHECK-NEXT:  2      10    0.50    *                   vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
# CHECK-NEXT:  1      1     0.25                        incq %rax
# CHECK-NEXT:  1      1     1.00                        cmpq %rax, %rdx
# CHECK-NEXT:  0      0     0.00                  F     jne .L3
#
# CHECK:      [7]   - Port7
# CHECK-NEXT: [8]   - 0DV
# CHECK:      Resource pressure per iteration:
# CHECK-NEXT: [0]    [1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]
# CHECK-NEXT: {{[^ ]+}}   {{[^ ]+}}   1.00   1.00    -     {{[^ ]+}}   1.00    -      -
# CHECK:      Resource pressure by instruction:
# CHECK-NEXT: [0]    [1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]    Instructions:
# CHECK-NEXT:  -      -     0.50   0.50    -      -      -      -      -     vmovsd (%rdi,%rax,8), %xmm1
#
# CHECK:      Timeline view:
# CHECK:      Index     0123456789
# CHECK:      [0,0]     {{\.?}}D====eeeeeeER
# CHECK-NEXT: [0,1]     {{\.?}}D====eeeeeeeeeeER
# CHECK:      Average Wait times (based on the timeline view):
# CHECK:            [0]    [1]    [2]    [3]
# CHECK-NEXT: 0.     2     {{.*}}       vmovsd (%rdi,%rax,8), %xmm1
#
# CHECK:      Line      CP     LCD   asm  Instructions:
# CHECK:         4       4       4   [[ASM:[0-9]+]]   vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
# CHECK:                10       4   total
# CHECK:      Loop-carried dependencies, longest first:
# CHECK-NEXT:   Cycles/it.  Latency  Iterations  Through (asm)
# CHECK-NEXT:         4.00        4           1  xmm0 ([[ASM]])
# CHECK-NEXT:         1.00        1           1  rax (
	.file "dot.c"
	.file 1 "dot.c"
	.text
	.globl dot
	.type dot, @function
dot:
	xorl %eax, %eax
	vxorpd %xmm0, %xmm0, %xmm0
	.p2align 4
.L3:
	.loc 1 4 0
	vmovsd (%rdi,%rax,8), %xmm1
	vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
	incq %rax
	cmpq %rax, %rdx
	jne .L3
	ret
	.size dot, .-dot
