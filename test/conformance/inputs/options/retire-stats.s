# CASE: -mcpu=skylake -retire-stats %s
# CASE: -mcpu=btver2 -retire-stats -iterations=2 %s
# CASE: -mcpu=alderlake -retire-stats %s
fldl	(%rdi)
fmull	(%rsi)
fstpl	(%rdx)

