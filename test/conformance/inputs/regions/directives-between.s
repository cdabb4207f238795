# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN a
	.p2align 4
	addl	%eax, %ebx
	.data
	.long 5
	.text
	subq	%rcx, %rdx
	.section .text.unlikely,"ax",@progbits
	imull	%esi, %edi
# LLVM-MCA-END a
