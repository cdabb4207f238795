# CASE: -mcpu=alderlake %s
# CASE: -mcpu=tigerlake -show-encoding %s
endbr64
endbr32
rdsspq	%rax
incsspq	%rcx
saveprevssp
rstorssp	(%rdi)
wrssq	%rdx, (%rsi)
setssbsy
clrssbsy	(%rdi)
notrack jmpq	*%rax

