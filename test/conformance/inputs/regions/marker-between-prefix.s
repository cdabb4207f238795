# CASE: -mcpu=skylake %s
	lock
# LLVM-MCA-BEGIN x
	incl	(%rdi)
# LLVM-MCA-END x
	rep
# LLVM-MCA-BEGIN y
	movsb
# LLVM-MCA-END y
