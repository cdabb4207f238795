# CASE: -mcpu=skylake-avx512 %s
# CASE: -mcpu=icelake-server -timeline -timeline-max-iterations=1 %s
kandw	%k0, %k1, %k2
kandnb	%k3, %k4, %k5
korq	%k6, %k7, %k0
kxord	%k1, %k1, %k1
kxnorw	%k2, %k2, %k2
knotq	%k3, %k4
kaddb	%k5, %k6, %k7
kunpckbw	%k0, %k1, %k2
kunpckdq	%k3, %k4, %k5
kshiftlw	$3, %k6, %k7
kshiftrq	$33, %k0, %k1
ktestb	%k2, %k3
kortestd	%k4, %k5
kmovb	%k6, %ecx
kmovq	(%rdi), %k7
kmovd	%k0, 4(%rdi)

