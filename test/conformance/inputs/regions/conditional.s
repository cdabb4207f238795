# CASE: -mcpu=skylake %s
	.set FLAG, 1
	.if FLAG
# LLVM-MCA-BEGIN yes
	addl	%eax, %ebx
# LLVM-MCA-END yes
	.else
# LLVM-MCA-BEGIN no
	subq	%rcx, %rdx
# LLVM-MCA-END no
	.endif
