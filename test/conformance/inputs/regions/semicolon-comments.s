# CASE: -mcpu=skylake %s
	addl	%eax, %ebx
; LLVM-MCA-BEGIN x
	subq	%rcx, %rdx
; LLVM-MCA-END x
