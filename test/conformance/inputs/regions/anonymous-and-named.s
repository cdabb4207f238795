# CASE: -mcpu=ivybridge %s
# LLVM-MCA-BEGIN
incl	%eax
# LLVM-MCA-BEGIN loop
decl	%ebx
# LLVM-MCA-END loop
notl	%ecx
# LLVM-MCA-END

