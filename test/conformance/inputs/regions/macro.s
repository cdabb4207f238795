# CASE: -mcpu=skylake %s
	.macro step reg, by=4
	addq	$\by, \reg
	imulq	\reg, \reg
	.endm
# LLVM-MCA-BEGIN calls
	step	%rax
	step	%rbx, 8
# LLVM-MCA-END calls
	step %rcx
