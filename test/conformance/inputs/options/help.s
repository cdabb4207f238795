# CASE: -mcpu=help %s
# CASE: -mtriple=x86_64-unknown-unknown -mcpu=help
# CASE: -mattr=help -mcpu=skylake %s
# CASE: --help
# CASE: -h
# CASE: --help-hidden
# CASE: --help-list
# CASE host: --version
# CASE host: -version
addl	%eax, %ebx

