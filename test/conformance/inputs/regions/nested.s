# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 -instruction-tables %s
# LLVM-MCA-BEGIN outer
movl	(%rdi), %eax
# LLVM-MCA-BEGIN inner
imull	%eax, %ebx
imull	%ebx, %ecx
# LLVM-MCA-END inner
movl	%ecx, (%rdi)
# LLVM-MCA-END outer

