# CASE: -mcpu=skylake -iterations=ten %s
# CASE: -mcpu=skylake -iterations=-1 %s
# CASE: -mcpu=skylake -iterations= %s
# CASE: -mcpu=skylake -iterations=0x10 %s
# CASE: -mcpu=skylake -dispatch=1.5 %s
# CASE: -mcpu=skylake -timeline=yes %s
# CASE: -mcpu=skylake -timeline=T %s
# CASE: -mcpu=skylake -output-asm-variant=intel %s
# CASE: -mcpu=skylake -timeline-max-cycles=99999999999 %s
addl	%eax, %ebx

