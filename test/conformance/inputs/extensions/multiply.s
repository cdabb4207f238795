# CASE: -mcpu=haswell %s
# CASE: -mcpu=btver2 %s
mulb	%cl
mulw	(%rdi)
mull	%ebx
mulq	%r9
imulb	%dl
imulq	%rsi
imulw	$77, %ax, %bx
imull	$-5, (%rsi), %ecx
imulq	$1000, %r8, %r9
imulq	16(%rdi), %r10
divb	%bl
divw	%cx
divl	%r11d
divq	(%rax)
idivl	%esi
idivq	%r12
cbtw
cwtl
cltq
cwtd
cltd
cqto

