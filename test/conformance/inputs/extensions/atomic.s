# CASE: -mcpu=skylake -show-barriers %s
# CASE: -mcpu=znver4 -show-barriers -show-encoding %s
lock addl	$1, (%rdi)
lock subq	%rax, 8(%rdi)
lock incb	(%rsi)
lock decl	(%rsi)
lock notq	(%rdx)
lock xorl	%ecx, (%rdx)
lock xaddl	%eax, (%rdi)
xaddq	%rbx, %rcx
lock cmpxchgl	%ecx, (%rdi)
cmpxchgq	%rbx, %rcx
lock cmpxchg8b	(%rdi)
lock cmpxchg16b	(%rsi)
lock btsq	$5, (%rdi)
xchgl	%eax, (%rsi)
mfence
lfence
sfence
pause

