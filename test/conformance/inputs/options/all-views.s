# CASE: -mcpu=skylake-avx512 -all-views %s
# CASE: -mcpu=btver2 -all-views %s
# CASE: -mcpu=znver3 -all-views=true %s
# CASE: -mcpu=haswell -all-views=false %s
# CASE: -mcpu=haswell -all-views -resource-pressure=false -timeline=false %s
# CASE: -mcpu=haswell -all-views -show-encoding -show-barriers %s
vpmulld	%xmm0, %xmm1, %xmm2
vpaddd	(%rdi), %xmm2, %xmm3
vpshufd	$0x4e, %xmm3, %xmm4
vmovd	%xmm4, (%rsi)

