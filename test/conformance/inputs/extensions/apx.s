# CASE: -mcpu=sapphirerapids -mattr=+egpr,+ndd %s
addq	%r16, %r17, %r18
subl	$5, %r20d, %eax
movq	(%r24,%r25,8), %rbx

