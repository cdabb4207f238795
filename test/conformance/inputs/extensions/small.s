# CASE: -mcpu=icelake-server %s
# CASE: -mcpu=znver4 %s
# Extensions of one to three instructions each.
rdrandq	%rax
rdseedl	%ecx
rdfsbase	%rax
wrgsbase	%rbx
rdpid	%rdx
clflushopt	(%rdi)
clwb	64(%rdi)
prefetchw	(%rsi)
xsave	(%rdi)
xsaveopt	(%rdi)
xsavec	(%rdi)
xrstor	(%rdi)
xsetbv
fxsave64	(%rsi)
invpcid	(%rdi), %rax

