# CASE: -mcpu=skylake %s
# Markers of other tools are comments and code to llvm-mca.
# OSACA-BEGIN
addl	%eax, %ebx
# OSACA-END
movl	$111, %ebx
.byte	100, 103, 144
subl	%eax, %ebx
movl	$222, %ebx
.byte	100, 103, 144

