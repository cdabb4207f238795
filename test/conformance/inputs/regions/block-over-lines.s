# CASE: -mcpu=skylake %s
/* LLVM-MCA-BEGIN x
   more */
	addl	%eax, %ebx
/*
 LLVM-MCA-END x */
	subq	%rcx, %rdx
/* LLVM-MCA-END x */
