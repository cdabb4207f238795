# CASE: -mcpu=znver2 %s
	.text
	addl	$1, %eax
	.data
	.long	7
	.section	.text.unlikely,"ax",@progbits
	subl	$1, %eax
	.bss
	.skip	64
	.previous
	.text
	imull	%ebx, %eax
	.pushsection	.text.hot,"ax",@progbits
	xorl	%ebx, %ebx
	.popsection

