# CASE: -mcpu=skylake %s
# CASE: -mcpu=znver3 -timeline -timeline-max-iterations=1 %s
main:
.Lhead:	incq	%rax
1:	decq	%rcx
	jnz	1b
"quoted name":
	jmp	.Lhead
$dollar:
	callq	"quoted name"
_Z3fooILi3EEvT_:
	retq

