	.file "scale.c"
	.text
	.globl scale
	.type scale, @function
scale:
.L3:
	addsd (%rdi,%rax,8), %xmm0
	incq %rax
	cmpq %rax, %rdx
	jne .L3
	ret
	.size scale, .-scale
