# CASE: -mcpu=skylake %s
{load} movl	%eax, %ebx
{evexx} vaddps	%xmm0, %xmm1, %xmm2
bnd jmp	done
lock
{vex} addl	%eax, %ebx
done:

