# CASE: -mcpu=bdver2 %s
# CASE: -mcpu=bdver2 -show-encoding -instruction-tables %s
bextrl	$0x0508, %eax, %ecx
bextrq	$0x1004, (%rdi), %rdx
blcfilll	%eax, %ebx
blciq	(%rsi), %rdi
blcicl	%ecx, %edx
blcmskq	%r8, %r9
blcsl	(%rax), %ebx
blsfillq	%r10, %r11
blsicl	%esi, %edi
t1mskcq	%rax, %rcx
tzmskl	4(%rsp), %edx

