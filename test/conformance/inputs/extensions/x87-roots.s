# CASE: -mcpu=alderlake %s
# CASE: -mcpu=sapphirerapids -instruction-tables %s
# Square roots of x87, also where LLVM knows no port for them.
fsqrt
fldl	(%rdi)
fdiv	%st, %st(1)
