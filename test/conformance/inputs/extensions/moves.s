# CASE: -mcpu=alderlake %s
# CASE: -mcpu=znver4 -timeline -timeline-max-iterations=2 %s
movb	$5, %ah
movw	%ax, (%rdi)
movl	$0x12345678, %ecx
movq	$-1, %rdx
movabsq	$0x1122334455667788, %rsi
movabsq	0x1000, %rax
movzbl	%al, %ebx
movzwl	(%rcx), %edx
movzbq	7(%rsi), %r8
movsbl	%dil, %eax
movswq	%bx, %rcx
movslq	%edx, %rsi
movsbw	(%rdi), %r9w
xchgl	%eax, %ebx
xchgq	%r10, (%r11)
bswapl	%ecx
bswapq	%rdx
leaq	(%rax), %rbx
leaq	8(%rax,%rbx,8), %rcx
leal	(,%rdx,4), %esi
leaq	label(%rip), %rdi
leaw	-1(%rax), %r8w
pushq	%rbp
pushq	$16
pushw	%ax
pushq	(%rdi)
popq	%rbx
popq	8(%rsp)
label:

