# CASE: -mcpu=skylake-avx512 %s
xbegin	.Lout
movq	%rax, (%rdi)
xend
xtest
xabort	$1
.Lout:
