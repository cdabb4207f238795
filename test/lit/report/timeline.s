# µops have rows where they are asked for; without, the timeline reads as llvm-mca's.
#
# RUN: incc-mca -mcpu=skylake --auto -timeline -timeline-max-iterations=2 %s | FileCheck %s --check-prefix=PLAIN
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake --auto --timeline-uops -timeline-max-iterations=2 %s | FileCheck %s --check-prefix=UOPS --match-full-lines --strict-whitespace
#
#      PLAIN: [1,0]     .D======eeeeeeeeeeeeER   vaddsd (%rax), %xmm0, %xmm0
# PLAIN-NEXT: [1,1]     . D======eE----------R   addq $8, %rax
#      PLAIN: =: waiting for inputs, for a port, or on the way to it
#
#      UOPS:[1,0]     .    .    .    .    ..   vaddsd (%rax), %xmm0, %xmm0
# UOPS-NEXT:  load    .D====iieeeeeeE------R     port 3, for rax of [0,1]
# UOPS-NEXT:  compute .D====iiiiiiiiiieeeeER     port 0, for xmm0 of [0,0]
# UOPS-NEXT:[1,1]     . D====ipeE----------R   addq $8, %rax  port 6, for rax of [0,1]
	.type f, @function
f:
.L1:
	vaddsd (%rax), %xmm0, %xmm0
	addq $8, %rax
	cmpq %rax, %rdx
	jne .L1
	ret
