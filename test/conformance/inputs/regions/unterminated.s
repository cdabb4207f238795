# CASE: -mcpu=skylake %s
addl	%eax, %ebx
# LLVM-MCA-BEGIN open
imull	%ecx, %edx
shll	$2, %edx

