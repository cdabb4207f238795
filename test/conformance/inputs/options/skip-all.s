# CASE: -mcpu=btver2 -skip-unsupported-instructions=any %s
# CASE: -mcpu=btver2 -skip-unsupported-instructions=lack-sched %s
vpermb	%zmm0, %zmm1, %zmm2

