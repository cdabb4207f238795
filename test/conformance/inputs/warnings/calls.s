# CASE: -mcpu=znver4 %s
callq	f
callq	*%rax
callq	*8(%rdi)
lcallq	*(%rsi)
retq
retq	$16
lretq
iretq

