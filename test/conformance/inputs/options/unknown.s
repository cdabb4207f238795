# CASE: -mcpu=skylake -tinymeline %s
# CASE: -mcpu=skylake --timelines %s
# CASE: -mcpu=skylake -x %s
# CASE: -mcpu=skylake --no-such-option=3 %s
# CASE: -mcpu=skylake -all-view %s
# CASE: -mcpu=skylake -O2 -fast %s
# CASE: -mcpu=skylake %s %s
# CASE: -mcpu=skylake %s other.s
addl	%eax, %ebx

