# CASE: -mcpu=skylake -o out.txt %s
# CASE: -mcpu=skylake -o=out.txt %s
# CASE: -mcpu=skylake -o - %s
# CASE: -mcpu=skylake --o out.txt -json %s
# CASE: -mcpu=skylake -o missing/out.txt %s
# CASE: -mcpu=skylake -o out.txt < %s
addl	%eax, %ebx

