# CASE: -mcpu=znver3 -json %s
# CASE: -mcpu=skylake -json -all-views %s
# LLVM-MCA-BEGIN first
addq	%rax, %rbx
# LLVM-MCA-END first
# LLVM-MCA-BEGIN the second one
imulq	%rcx, %rdx
movq	%rdx, (%rdi)
# LLVM-MCA-END the second one
# LLVM-MCA-BEGIN
nop
# LLVM-MCA-END

