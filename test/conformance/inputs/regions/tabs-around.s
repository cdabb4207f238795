# CASE: -mcpu=skylake %s
#	LLVM-MCA-BEGIN	tabbed
	addl	%eax, %ebx
#	LLVM-MCA-END	tabbed
 	 # 	 LLVM-MCA-BEGIN   blanks   
	subq	%rcx, %rdx
   #   LLVM-MCA-END   blanks   
