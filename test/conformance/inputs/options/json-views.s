# CASE: -mcpu=skylake -json -all-views %s
# CASE: -mcpu=btver2 -json -timeline -bottleneck-analysis %s
# CASE: -mcpu=haswell -json -show-encoding -show-barriers %s
# CASE: -mcpu=haswell -json -instruction-tables %s
# CASE: -mcpu=haswell -json -summary-view=false -resource-pressure=false -instruction-info=false %s
# CASE: -mcpu=haswell -json -dispatch-stats -scheduler-stats -retire-stats -register-file-stats %s
# CASE: -mcpu=znver2 -json -iterations=1 -output-asm-variant=1 %s
imulq	%rax, %rbx
addq	(%rdi), %rbx
movq	%rbx, (%rsi)
lock incl	(%rdx)

