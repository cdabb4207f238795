# CASE: -mcpu=sandybridge -timeline -iterations=3 %s
# gcd.c: gcc -O2 -march=sandybridge
	.file	"gcd.c"
	.text
	.p2align 4
	.globl	gcd
	.type	gcd, @function
gcd:
.LFB0:
	.cfi_startproc
	movl	%edi, %eax
	movl	%esi, %edx
	testl	%esi, %esi
	je	.L4
	.p2align 4,,10
	.p2align 3
.L3:
	movl	%edx, %ecx
	xorl	%edx, %edx
	divl	%ecx
	movl	%ecx, %eax
	testl	%edx, %edx
	jne	.L3
	movl	%ecx, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	movl	%edi, %ecx
	movl	%ecx, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	gcd, .-gcd
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
