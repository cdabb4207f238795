# CASE: -mcpu=skylake -call-latency=5 %s
# CASE: -mcpu=btver2 -call-latency=250 -timeline -timeline-max-iterations=1 %s
movl	%ebx, %edi
callq	f
addl	%eax, %ebx

