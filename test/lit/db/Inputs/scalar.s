	.file "scale.c"
	.text
	.globl scale
	.type scale, @function
scale:
.L3:
	movsd (%rdi,%rax,8), %xmm0
	addsd %xmm1, %xmm0
	movsd %xmm0, (%rdi,%rax,8)
	incq %rax
	cmpq %rax, %rdx
	jne .L3
	ret
	.size scale, .-scale
