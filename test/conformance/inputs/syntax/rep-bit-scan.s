# What gcc writes for __builtin_ctz without -mbmi: a tzcnt in bytes, a bsf behind a prefix to who reads it.
# CASE: -mcpu=haswell -show-encoding %s
# CASE: -mcpu=znver3 -timeline -iterations=2 -output-asm-variant=1 %s
	xorl	%eax, %eax
	rep bsfl	%edi, %eax
	rep bsfq	(%rsi), %rcx
	repz bsfw	%dx, %cx
	rep bsr	first(%rip), %r8d
	repe bsrq	16(,%r9,8), %rdx
	bsfl	%edi, %eax
	tzcntl	%edi, %eax
