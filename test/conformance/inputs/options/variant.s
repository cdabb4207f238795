# CASE: -mcpu=skylake -output-asm-variant=0 %s
# CASE: -mcpu=skylake -output-asm-variant=1 %s
# CASE: -mcpu=skylake --output-asm-variant 1 -timeline -bottleneck-analysis %s
# CASE: -mcpu=skylake -output-asm-variant=-1 %s
# CASE: -mcpu=skylake -output-asm-variant=2 %s
movl	$255, %eax
vfmadd231ps	8(%rdi,%rsi,4), %ymm1, %ymm2
lock xaddl	%ecx, (%rdx)
cmovael	%ebx, %ecx
jae	.Lx
pushq	$-1
movsbl	(%rax), %edx
shlq	%rax
cvtsi2sdq	(%rdi), %xmm0
fldt	(%rsi)

