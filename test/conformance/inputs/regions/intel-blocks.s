# CASE: -mcpu=skylake %s
# CASE: -mcpu=skylake -output-asm-variant=0 %s
	.intel_syntax noprefix
# LLVM-MCA-BEGIN a
	add	eax, ebx
# LLVM-MCA-END a
	.att_syntax
# LLVM-MCA-BEGIN b
	subq	%rcx, %rdx
# LLVM-MCA-END b
