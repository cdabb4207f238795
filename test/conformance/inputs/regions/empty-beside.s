# CASE: -mcpu=skylake %s
# LLVM-MCA-BEGIN nothing
# LLVM-MCA-END nothing
# LLVM-MCA-BEGIN something
addl	%eax, %ebx
# LLVM-MCA-END something
# LLVM-MCA-BEGIN directives
	.p2align 4
.Lhere:
# LLVM-MCA-END directives

