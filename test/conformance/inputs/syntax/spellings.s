# CASE: -mcpu=icelake-server %s
# Mnemonics without suffixes, other names of the same instructions, case.
	MOV	%RAX, %rbx
	add	$1, %rax
	movsx	%al, %ecx
	movzx	%ax, %edx
	jz	target
	jnae	target
	setc	%al
	cmovc	%eax, %ebx
	sal	%eax
	shl	$1, %eax
	cqo
	cdqe
	cwde
	retn
	pushf
	call	*%rax
	ret	$8
	xlat
	cmpeqps	%xmm0, %xmm1
	vcmpgeps	%ymm0, %ymm1, %ymm2
	pclmullqlqdq	%xmm0, %xmm1
	movabs	$5, %rax
	fstp	%st
target:

