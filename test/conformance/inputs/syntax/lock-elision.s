# xacquire and xrelease are statements of their own for LLVM, whatever follows.
# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=broadwell %s
	xacquire lock cmpxchgl	%edx, (%rdi)
	addl	$1, %edx
	xrelease movl	$0, (%rdi)
	xrelease
	lock decl	(%rdi)
