# CASE: -mcpu=skylake %s
addl	%eax
addl	%eax, %ebx, %ecx
movl	%rax, %ebx
movq	%eax, %rbx
addb	$1, %rax
vaddps	%xmm0, %ymm1, %ymm2
movl	(%rax,%rbx,3), %ecx
movl	(%al), %ecx
movl	%eax, $5
leaq	%rax, %rbx
shll	%ecx, %eax
imull	$5, (%rdi)

