# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=znver2 %s
	nop
	nopw	(%rax)
	nopl	8(%rax,%rax)
	nopw	%cs:(%rax,%rax)
	data16	nopw	%cs:512(%rax,%rax)
	xchgw	%ax, %ax
	.p2align 4,,10
	pause
	nopq	(%rax)
	.nops 4
	nopl	%eax
	repz nop
