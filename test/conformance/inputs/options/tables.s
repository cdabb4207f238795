# CASE: -mcpu=skylake -instruction-tables %s
# CASE: -mcpu=btver2 -instruction-tables -show-encoding %s
# CASE: -mcpu=znver4 -instruction-tables -show-barriers %s
# CASE: -mcpu=haswell -instruction-tables -all-views %s
# CASE: -mcpu=haswell -instruction-tables -timeline -summary-view %s
# CASE: -mcpu=haswell -instruction-tables -instruction-info=false %s
vdivps	%ymm0, %ymm1, %ymm2
vpgatherdd	%xmm0, (%rdi,%xmm1,4), %xmm2
rep stosq
movl	(%rdi), %eax

