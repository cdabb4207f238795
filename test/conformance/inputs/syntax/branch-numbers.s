# CASE: -mcpu=haswell %s
# CASE: -mcpu=haswell -output-asm-variant=1 -show-encoding %s
# CASE: -mcpu=haswell -print-imm-hex %s
# Addresses for jumps: a number alone is the same in both syntaxes.
jrcxz	11
loop	5
call	0x1000
jmp	0x20
je	-5
xbegin	12
