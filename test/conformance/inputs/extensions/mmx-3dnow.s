# CASE: -mcpu=btver2 -mattr=+3dnow %s
# 3DNow! has no scheduling information in most models.
pfadd	%mm0, %mm1
pfmul	(%rdi), %mm2
pi2fd	%mm3, %mm4
femms

