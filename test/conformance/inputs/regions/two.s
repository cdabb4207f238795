# CASE: -mcpu=znver3 %s
# CASE: -mcpu=haswell -timeline -bottleneck-analysis -instruction-info=false %s
# LLVM-MCA-BEGIN one
mulsd	%xmm0, %xmm1
addsd	%xmm1, %xmm2
# LLVM-MCA-END one
# LLVM-MCA-BEGIN two
divsd	%xmm3, %xmm4
# LLVM-MCA-END two

