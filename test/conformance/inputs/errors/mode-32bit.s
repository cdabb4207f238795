# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=skylake %s
# CASE: -mtriple=i686-unknown-linux-gnu -mcpu=skylake -skip-unsupported-instructions=parse-failure %s
	pushl	%eax
	pushq	%rax
	movq	%rax, %rbx
	incl	%eax
	addl	%r8d, %eax
	syscall
