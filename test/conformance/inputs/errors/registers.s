# CASE: -mcpu=skylake %s
addl	%eaxx, %ebx
movq	%r16, %rax
movl	%zz, %eax
vaddps	%zmm32, %zmm0, %zmm1
movb	%ah, %r8b
movl	(%rax,%rsp), %ecx
movl	(%ip), %eax

