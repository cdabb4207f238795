# CASE: -mcpu=skylake %s
# CASE: -mtriple=x86_64-apple-darwin -mcpu=skylake %s
# CASE: -mtriple=x86_64-pc-windows-msvc -mcpu=skylake %s
	.text
	.globl	f
f:
# LLVM-MCA-BEGIN f-body
	addl	%eax, %ebx
	retq
# LLVM-MCA-END f-body
	.globl	g
g:
	subq	%rcx, %rdx
## LLVM-MCA-BEGIN g-body
.LBB1_1:
	imull	%esi, %edi
	jne	.LBB1_1
## LLVM-MCA-END g-body
	retq
