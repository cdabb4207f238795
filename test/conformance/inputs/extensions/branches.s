# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=bdver2 %s
# Each kind of jump, in each width of its offset.
1:
testl	%eax, %eax
je	1b
jne	2f
jc	far
jrcxz	1b
jecxz	1b
loop	1b
loopne	1b
jmp	2f
jmp	far
jmpq	*%rax
jmpq	*(%rdi,%rcx,8)
2:
js	far
jnp	far
far:

