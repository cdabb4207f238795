# CASE: -mcpu=skylake %s
movb	$300, %al
addq	$0x123456789, %rax
shll	$300, %eax
movl	$, %eax
movl	$0x, %eax
int	$256
pshufd	$256, %xmm0, %xmm1

