# Locked, string and microcoded instructions, push and pop: measured throughputs that ports do not explain.
# RUN: cd %S && incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=2 system.s | %golden system.golden
	lock xaddq	%rax, (%rdi)
	rep movsb
	pushq	%rcx
	popq	%rdx
	idivq	%rsi
	cpuid
	xchgq	%rbx, (%rdi)
