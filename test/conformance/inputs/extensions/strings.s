# CASE: -mcpu=haswell %s
# CASE: -mcpu=znver2 -instruction-tables %s
movsb
movsw
movsl
movsq
stosb
stosq
lodsb
lodsl
scasb
scasq
cmpsb
cmpsq
rep movsb
rep movsq
rep stosb
rep stosl
repe cmpsb
repne scasb

