# CASE: -march=x86-64 -mcpu=haswell %s
# CASE: --march x86-64 --mcpu haswell %s
# CASE: -mtriple x86_64-unknown-linux-gnu -mcpu haswell %s
# CASE: -march=x86-64 -mtriple=x86_64-unknown-unknown -mcpu=haswell %s
	vaddps	%ymm0, %ymm1, %ymm2
	vmovaps	%ymm2, (%rdi)
