# CASE: -mcpu=skylake %s
add	$1, (%rdi)
mov	$0, (%rsi)
inc	(%rdx)
cvtsi2sd	(%rdi), %xmm0
shl	(%rax)

