# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -show-encoding %s
# Integer arithmetic of all widths, with immediates, memory on either side.
addb	$1, %al
addw	$300, %bx
addl	%ecx, %edx
addq	$-1, %rsi
adcq	$0, %rdi
subb	%r8b, (%rax)
subl	12(%rsp), %r9d
sbbq	%r10, %r11
negq	%rax
notl	(%rbx)
incw	%cx
decq	8(%rdx,%rsi,4)
cmpb	$7, (%rdi)
cmpl	%eax, %ebx
testb	$1, %dl
testq	%r12, %r12
andl	$0xff, %r13d
orq	$0x7fffffff, %r14
xorw	%ax, 2(%rbp)
xorl	%r15d, %r15d

