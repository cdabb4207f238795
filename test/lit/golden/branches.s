# A conditional jump inside the loop: the path by fall-through is analysed, and the report says what is not on
# it.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 --auto branches.s | %golden branches.golden
	.globl	count
	.type	count, @function
count:
	xorl	%eax, %eax
.L4:
	movl	(%rdi), %ecx
	testl	%ecx, %ecx
	js	.L3
	addl	%ecx, %eax
	imull	%ecx, %edx
.L5:
	addq	$4, %rdi
	cmpq	%rsi, %rdi
	jne	.L4
	ret
.L3:
	subl	%ecx, %eax
	jmp	.L5
	.size	count, .-count
