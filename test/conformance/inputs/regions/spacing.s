# CASE: -mcpu=skylake %s
#LLVM-MCA-BEGIN tight
addl	%eax, %ebx
#LLVM-MCA-END tight
	#   LLVM-MCA-BEGIN   spaced   name
subl	%eax, %ebx
	#   LLVM-MCA-END   spaced   name
# LLVM-MCA-BEGIN	tabbed
orl	%eax, %ebx
# LLVM-MCA-END	tabbed

