# CASE: -mcpu=skylake %s
x: # LLVM-MCA-BEGIN a
	addl	%eax, %ebx
y: # LLVM-MCA-END a
	.p2align 4 # LLVM-MCA-BEGIN b
	subl	%eax, %ebx
	.globl q # LLVM-MCA-END b
	.ascii "# LLVM-MCA-BEGIN no"
