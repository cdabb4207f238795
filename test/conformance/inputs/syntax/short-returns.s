# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=znver2 -output-asm-variant=1 %s
	leaq	(%rdi,%rsi), %rax
	retw
	retw	$16
	ret	$0xc2
	ret	$0x66
