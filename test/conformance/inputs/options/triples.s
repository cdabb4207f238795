# CASE: -mtriple=nonsense -mcpu=skylake %s
# CASE: -march=nonsense -mcpu=skylake %s
# CASE: -mtriple=sparc-unknown-linux -mcpu=skylake %s
# CASE: -mtriple=x86_64 -mcpu=skylake %s
# CASE: -mtriple=x86_64-linux-gnu -mcpu=skylake -json %s
# CASE: -mtriple=amd64-unknown-freebsd -mcpu=znver3 %s
# CASE: -mtriple=x86_64-linux-gnux32 -mcpu=znver3 %s
addl	%eax, %ebx

