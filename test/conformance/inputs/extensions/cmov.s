# CASE: -mcpu=ivybridge %s
cmovel	%eax, %ebx
cmovneq	(%rcx), %rdx
cmovaw	%ax, %bx
cmovael	%ecx, %edx
cmovbq	%rsi, %rdi
cmovbel	4(%rsp), %r8d
cmovgq	%r9, %r10
cmovgel	%r11d, %r12d
cmovlq	%r13, %r14
cmovlew	%r15w, %ax
cmovsl	%ebx, %ecx
cmovnsq	%rdx, %rsi
cmovol	%edi, %eax
cmovnpq	%rbx, %rcx

