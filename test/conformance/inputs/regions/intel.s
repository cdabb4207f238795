# CASE: -mcpu=haswell %s
# CASE: -mcpu=haswell -output-asm-variant=1 %s
	.intel_syntax noprefix
# LLVM-MCA-BEGIN triad
	vmovupd	ymm0, ymmword ptr [rdx + rax]
	vfmadd213pd	ymm0, ymm1, ymmword ptr [rsi + rax]
	vmovupd	ymmword ptr [rdi + rax], ymm0
# LLVM-MCA-END triad

