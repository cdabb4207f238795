# LLVM goes on behind the next semicolon, GNU as says as much; columns are those of the line as it is.
# CASE: -mcpu=skylake %s
	addl	%eax, %ebx;	frob	%ecx; movl $1, %eax, %ebx; nop
again:	blub; again: incl %eax	# ; grob
	.frob	1; .blob	2
	decl	%ecx
