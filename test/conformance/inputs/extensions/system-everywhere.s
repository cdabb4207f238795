# CASE: -mcpu=skylake %s
# CASE: -mcpu=alderlake %s
# CASE: -mcpu=znver4 %s
# CASE: -mcpu=btver2 %s
# CASE: -mcpu=slm %s
# CASE: -mcpu=tremont -resource-pressure=0 %s
# What LLVM has figures of on every core, whatever the core has.
invlpga	%rax, %ecx
invlpg	(%rax)
enter	$7, $4095
sahf
