# CASE: -mcpu=skylake -all-views %s
# CASE: -mcpu=btver2 -timeline -iterations=1 %s
nop

