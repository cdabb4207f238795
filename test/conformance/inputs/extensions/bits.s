# CASE: -mcpu=broadwell %s
btl	$3, %eax
btq	%rbx, %rcx
btw	$1, (%rdi)
btsl	%eax, %edx
btrq	$40, %rsi
btcl	$9, 4(%rsp)
bsfl	%eax, %ebx
bsrq	(%rcx), %rdx
popcntl	%esi, %edi
popcntq	(%r8), %r9
lzcntl	%eax, %ecx
tzcntq	%rdx, %rbx
sete	%al
setnbe	(%rdi)
setp	%bl
lahf
sahf
clc
stc
cmc
cld
std

