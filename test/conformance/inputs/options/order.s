# CASE: %s -mcpu=skylake -timeline
# CASE: -timeline %s -mcpu=btver2 -iterations=4
# CASE: -mcpu=skylake -- %s
# CASE: --mcpu=skylake --timeline --iterations=2 %s
incl	%eax
movl	%eax, %ebx

