# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -json %s
# LLVM-MCA-BEGIN größe→x
	addl	%eax, %ebx
# LLVM-MCA-END größe→x
# LLVM-MCA-BEGIN 日本
	subq	%rcx, %rdx
# LLVM-MCA-END 日本
