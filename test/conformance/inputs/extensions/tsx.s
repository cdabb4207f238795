# CASE: -mcpu=skylake-avx512 %s
xbegin	.Lout
movq	%rax, (%rdi)
xend
xtest
xabort	$1
.Lout:
xbegin	16
loop	0
jmp	-8
call	0x20
