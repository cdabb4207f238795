# An instruction that is not in the model is marked X in every view and excluded from the totals; a statement that the
# assembler refuses is reported with its line, and the rest is still analysed.
#
# RUN: not incc-mca -mcpu=skylake-avx512 -timeline -timeline-max-iterations=1 %s >%t.out 2>%t.err
# RUN: FileCheck %s --strict-whitespace <%t.out
# RUN: FileCheck %s --check-prefix=ERR <%t.err
#
# ERR: unknown.s:[[#]]:2: error: no such instruction: `nonsense
#
# CHECK:      3 instructions (1 not in the model)
# CHECK:      - The {{.*}} model lacks 1 instruction (line [[X:[0-9]+]]), so the totals are lower bounds.
# CHECK-NEXT: - 1 statement could not be decoded (line {{[0-9]+}}), so the totals are lower bounds.
# CHECK:      Instructions:      200
# CHECK:      [6]: Remarks (X not in the model, excluded from all totals)
# CHECK:       X      X     X                     X     vpcomtrueb %xmm1, %xmm2, %xmm3
# CHECK:      Resource pressure by instruction:
# CHECK:      X      X      X      X      X      X      X      X      X      vpcomtrueb %xmm1, %xmm2, %xmm3
# CHECK:      [0,1] {{.*}} X vpcomtrueb %xmm1, %xmm2, %xmm3
# CHECK:      [[X]]       X       X   vpcomtrueb %xmm1, %xmm2, %xmm3
	addq %rax, %rbx
	vpcomtrueb %xmm1, %xmm2, %xmm3
	nonsense %rax
	addq %rbx, %rcx
