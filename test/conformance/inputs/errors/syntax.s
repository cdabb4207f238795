# CASE: -mcpu=skylake %s
addl	%eax %ebx
addl	(%eax, %ebx
addl	%eax,, %ebx
addl	%eax, %ebx)
, %eax
@foo
movl	8(%rdi,), %eax

