# CASE: -mcpu=skylake %s
	.data
x:	.byte 1, 2, 'a'
	.short 5
	.long x, x-y
	.quad 0x1122334455667788
	.octa 1
	.float 1.5
	.double -2e10
	.ascii "a\n\"b\""
	.asciz "end"
	.string "x", "y"
	.zero 16
	.skip 4, 0x90
	.space 8
	.fill 3, 2, 1
	.balign 16
	.org 200
y:	.uleb128 300
	.sleb128 -5
	.text
	addl	%eax, %ebx
	.byte 0x90, 0xc3
	subq	%rcx, %rdx
	.comm c,4,4
	.lcomm d,8
	.weak w
	.type f,@function
	.size f, 4
	.ident "me"
	.section .note.GNU-stack,"",@progbits
