# CASE: -mcpu=znver2 %s
clzero
monitorx
mwaitx
rdpru
wbnoinvd
clwb	(%rdi)

