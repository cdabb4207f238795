# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 -show-encoding %s
1:
	addl	%eax, %ebx
	jne	.L1
.L1:
	subq	%rcx, %rdx
	jmp	.L1
	je	.Lfar
loop:
	loop	loop
	jrcxz	loop
	jecxz	loop
	callq	loop
.Lfar:
	xbegin	.Lfar
	jmp	.Lfar+4
	jmp	*%rax
	jmp	*(%rax)
	notrack jmp *%rax
	bnd jmp .Lfar
