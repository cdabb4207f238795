# CASE: -mcpu=haswell -lqueue=2 -dispatch-stats %s
# CASE: -mcpu=haswell -squeue=1 -dispatch-stats -scheduler-stats %s
# CASE: -mcpu=btver2 -lqueue=4 -squeue=4 -all-stats %s
# CASE: -mcpu=znver1 -lqueue=0 -squeue=0 -scheduler-stats %s
# CASE: -mcpu=skylake --lqueue 3 --squeue 3 -all-views %s
movq	(%rdi), %rax
movq	8(%rdi), %rbx
movq	%rax, (%rsi)
movq	16(%rdi), %rcx
movq	%rcx, 8(%rsi)

