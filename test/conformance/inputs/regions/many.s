# CASE: -mcpu=skylake -resource-pressure=false -instruction-info=false %s
# CASE: -mcpu=btver2 -timeline -timeline-max-iterations=1 -all-stats %s
# LLVM-MCA-BEGIN r0
addl	%eax, %ebx
# LLVM-MCA-END r0
# LLVM-MCA-BEGIN r1
addl	$1, (%rdi)
# LLVM-MCA-END r1
# LLVM-MCA-BEGIN r2
vaddps	%xmm0, %xmm1, %xmm2
# LLVM-MCA-END r2
# LLVM-MCA-BEGIN r3
movl	(%rsi), %ecx
# LLVM-MCA-END r3
# LLVM-MCA-BEGIN r4
movl	%ecx, (%rdx)
# LLVM-MCA-END r4
# LLVM-MCA-BEGIN r5
bsrl	%eax, %ecx
# LLVM-MCA-END r5
# LLVM-MCA-BEGIN r6
divl	%ecx
# LLVM-MCA-END r6
# LLVM-MCA-BEGIN r7
sqrtps	%xmm0, %xmm0
# LLVM-MCA-END r7
# LLVM-MCA-BEGIN r8
pushq	%rax
# LLVM-MCA-END r8
# LLVM-MCA-BEGIN r9
popq	%rax
# LLVM-MCA-END r9
# LLVM-MCA-BEGIN r10
leal	(%rax,%rbx,2), %ecx
# LLVM-MCA-END r10
# LLVM-MCA-BEGIN r11
cmpl	%eax, %ebx
jne	.Lx
# LLVM-MCA-END r11

