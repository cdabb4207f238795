# CASE: -mcpu=skylake %s
popq	%rbx
retq

