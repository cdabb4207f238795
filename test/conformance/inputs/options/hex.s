# CASE: -mcpu=skylake -print-imm-hex %s
# CASE: -mcpu=skylake -print-imm-hex=false %s
# CASE: -mcpu=skylake -print-imm-hex -output-asm-variant=1 %s
# CASE: -mcpu=znver2 --print-imm-hex=1 -timeline -timeline-max-iterations=1 %s
addl	$10, %eax
addl	$-10, %ebx
movq	$65536, %rcx
movb	$200, %dl
andq	$-256, %rsi
movl	100(%rdi), %eax
movabsq	$81985529216486895, %r8
shll	$12, %eax
pshufd	$228, %xmm0, %xmm1
cmpw	$-1, -12(%rsp)
int	$16
retq	$24

