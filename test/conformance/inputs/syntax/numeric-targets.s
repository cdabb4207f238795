# CASE: -mcpu=skylake -show-encoding %s
# CASE: -mcpu=btver2 -output-asm-variant=1 -print-imm-hex %s
	jmp	10
	xbegin	10
	callq	0x1000
	je	4
	loop	3
	jrcxz	5
	jmp	*0x1000
	jmpq	*%fs:8
	jmp	.
	jmp	.+4
