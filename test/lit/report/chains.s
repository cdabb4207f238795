# The critical path and every loop-carried chain step by step, and all changed cores; nothing is cut in 80 columns.
#
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake -auto -views=none -critical-path -loop-carried -what-if %s | FileCheck %s --check-prefixes=CHECK,NARROW
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake -auto -views=none -critical-path -loop-carried -what-if %s | not grep …
# RUN: env COLUMNS=200 incc-mca -mcpu=skylake -auto -views=none -what-if -critical-path -loop-carried %s | FileCheck %s --check-prefixes=CHECK,WIDE
# RUN: incc-mca -mcpu=skylake -auto -views=what-if,critical-path,loop-carried %s > %t.named
# RUN: incc-mca -mcpu=skylake -auto -all-views=false -what-if -critical-path -loop-carried %s | diff %t.named -
# RUN: incc-mca -mcpu=skylake -auto -all-views %s | FileCheck %s --check-prefix=ALL
# RUN: incc-mca -mcpu=skylake -auto -what-if 'rob = 20' -what-if %s | FileCheck %s --check-prefix=ASKED
# RUN: incc-mca -mcpu=skylake -auto -wait-states -views=none -dependency-graph=%t.dot %s | FileCheck %s --check-prefix=WAITS
# RUN: FileCheck %s --check-prefix=GRAPH < %t.dot
# RUN: incc-mca -mcpu=skylake -auto %s | FileCheck %s --check-prefix=USUAL
# RUN: incc-mca -mcpu=skylake -auto %s | not grep -e 'Critical path,' -e 'of one round:'
#
# CHECK:       Simulated with a changed core (8.00 cycles per iteration unchanged):
# CHECK-NEXT:    Cycles    Gain  The core
# CHECK-NEXT:      {{[0-9.]+}}  {{ *[0-9]+}} %  without {{.*}}dependencies
# CHECK:       {{ }}8.00       -  with
# CHECK:       Critical path, 10 cycles for one iteration on its own:
# CHECK:       {{^Line  Cycles  .*Through  From  Instructions:$}}
# CHECK-NEXT:  {{^ +[0-9]+ +6 .*}}vmovsd (%rdi,%rax,8), %xmm1
# CHECK-NEXT:  {{^ +[0-9]+ +4 .*}}xmm1 {{.*}}vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
# CHECK:       {{[0-9]}} loop-carried chains, with the cycles of one round:
# CHECK:       [1] 8.00 cycles per iteration, through memory
# CHECK-NEXT:      Line  Cycles  Ready  Through  From
# CHECK-NEXT:  {{^ +}}[[LOAD:[0-9]+]] {{ +}}8      8  memory   [[STORE:[0-9]+]] (it. -1)  imulq (%r10), %r8
# CHECK-NEXT:  {{^ +}}[[STORE]] {{ +}}0      8  r8       [[LOAD]]  {{ +}}movq %r8, (%r10)
# NARROW:      [2] 4.00 cycles per iteration, through xmm0
# NARROW-NEXT:     Line  Cycles  Through  From {{ +}}Instructions:
# WIDE:        [2] 4.00 cycles per iteration, through xmm0
# WIDE-NEXT:       Line  Cycles  Ready  Through  From {{ +}}Instructions:
# CHECK-NEXT:  vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
# ALL:         Core: Intel Skylake (client)
# ALL:         Simulated with a changed core (8.00
# ALL:         Waiting times in cycles per iteration
# ALL:         Critical path (CP)
# ALL:         Critical path, 10 cycles
# ALL:         of one round:
# ASKED:       Simulated with a changed core (8.00
# ASKED:       with rob = 20 (requested)
# WAITS:       Who waits for whom
# GRAPH:       digraph
# USUAL:       Critical path (CP)

.L1:
    vmovsd (%rdi,%rax,8), %xmm1
    vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
    imulq (%r10), %r8
    movq %r8, (%r10)
    incq %rax
    cmpq %rax, %r11
    jne .L1
