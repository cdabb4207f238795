# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=skylake %s
# CASE: -march=x86 -mcpu=btver2 %s
	pushl	%ebp
	movl	%esp, %ebp
	movl	8(%ebp), %eax
	incl	%eax
	imull	12(%ebp), %eax
	popl	%ebp
	retl

