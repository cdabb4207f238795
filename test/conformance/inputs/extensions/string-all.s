# CASE: -mcpu=skylake %s
# CASE: -mcpu=btver2 %s
# CASE: -mcpu=znver2 -output-asm-variant=1 -timeline %s
# CASE: -mcpu=alderlake -show-encoding %s
	movsb
	movsw
	movsl
	movsq
	rep movsb
	rep movsw
	rep movsl
	rep movsq
	stosb
	stosq
	rep stosb
	rep stosl
	lodsb
	lodsq
	rep lodsw
	scasb
	repne scasb
	repe scasq
	cmpsb
	repe cmpsl
	repne cmpsw
	rep; movsb
	movsb	%fs:(%rsi), %es:(%rdi)
	lodsl	%gs:(%esi), %eax
	stosw	%ax, %es:(%edi)
	xlatb
	cld
	std
