# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -show-encoding %s
# CASE: -mcpu=btver2 -output-asm-variant=1 %s
	lock	cmpxchg16b	(%rdi)
	cmpxchg16b	16(%rdi)
	lock cmpxchg8b (%rsi)
	lock; cmpxchgq %rax, (%rdi)
	lock xaddl %eax, (%rdi)
	xchgq	%rax, (%rdi)
	xchgb	%al, %ah
	xchgw	%ax, %cx
	lock incl (%rdi)
	lock negq (%rdi)
	lock btsl $3, (%rdi)
	lock andb $1, (%rdi)
	mfence
	xacquire lock incl (%rdi)
	xrelease movl $1, (%rdi)
