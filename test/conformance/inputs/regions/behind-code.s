# CASE: -mcpu=skylake %s
xorl	%eax, %eax	# LLVM-MCA-BEGIN here
addl	%eax, %ebx	# LLVM-MCA-END here
subl	%eax, %ebx

