# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 -json %s
movl	%eax, %edi
callq	g

