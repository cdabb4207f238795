	movl	.L4@GOTOFF(%ebx,%eax,4), %edx
	movl	x@GOT(%ebx), %eax
	call	g@PLT
	leal	t@TLSGD(,%ebx,1), %eax
	movl	t@NTPOFF+4(%eax), %eax
	movl	t@INDNTPOFF, %eax
	addl	$_GLOBAL_OFFSET_TABLE_, %ebx
