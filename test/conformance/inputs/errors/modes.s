# CASE: -mcpu=skylake %s
# What 64-bit mode has not.
pushl	%eax
aaa
pusha
les	(%rdi), %eax
into
movl	%cs, %rip

