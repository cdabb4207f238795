# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=skylake -bottleneck-analysis %s
# CASE: -march=x86 -mcpu=slm -json %s
	.text
	.globl	dot
dot:
	pushl	%ebx
	subl	$8, %esp
	movl	16(%esp), %ecx
	movl	20(%esp), %edx
	movl	24(%esp), %ebx
	xorps	%xmm0, %xmm0
	# LLVM-MCA-BEGIN loop
.L1:
	movss	-4(%ecx,%ebx,4), %xmm1
	mulss	-4(%edx,%ebx,4), %xmm1
	addss	%xmm1, %xmm0
	decl	%ebx
	jne	.L1
	# LLVM-MCA-END loop
	movss	%xmm0, 4(%esp)
	flds	4(%esp)
	addl	$8, %esp
	popl	%ebx
	retl
