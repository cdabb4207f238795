# CASE: -mcpu=skylake %s
	callq	"a b"
	movl	"x y"(%rip), %eax
	jmp	"?f@@YAXXZ"
	leaq	_ZN3foo3barEv(%rip), %rax
	movl	$.L.str, %edi
	callq	f$a
