# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -timeline -timeline-max-iterations=1 %s
# LLVM-MCA-BEGIN caller
movl	$1, %edi
callq	f
# LLVM-MCA-END caller
# LLVM-MCA-BEGIN returns
popq	%rbp
retq
# LLVM-MCA-END returns
# LLVM-MCA-BEGIN both
callq	*(%rax)
retq	$8
# LLVM-MCA-END both

