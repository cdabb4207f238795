# Several cores: a table for each kernel, as wide as the terminal, before the report of each core.
#
# RUN: cd %S
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake,znver4,icelake-server -views=none cores.s | FileCheck %s --check-prefixes=CHECK,NARROW
# RUN: env COLUMNS=200 incc-mca -mcpu=skylake,znver4,icelake-server -views=none cores.s | FileCheck %s --check-prefixes=CHECK,WIDE
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake,znver4 -views=none cores.s | not grep …
# RUN: incc-mca -mcpu=skylake,SKL -views=none cores.s | FileCheck %s --check-prefix=ONE
# RUN: not incc-mca -mcpu=skylake,nothing,neither cores.s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: not incc-mca -mcpu=skylake,cortex-a72 cores.s 2>&1 | FileCheck %s --check-prefix=OTHER
# RUN: incc-mca -mcpu=skylake,znver4 -json cores.s | FileCheck %s --check-prefix=JSON
#
# CHECK:      cores.s on 3 cores:
# CHECK:      sum, {{.*}}cores.s:{{[0-9]+}}-{{[0-9]+}}
# NARROW-NEXT:  Core {{ +}}Cycles {{.*}}IPC {{.*}}Ports {{.*}}Front {{.*}}Chain {{.*}}Bound by
# WIDE-NEXT:    Core {{ +}}Cycles {{.*}}IPC {{ +}}µops {{ +}}Ports {{ +}}Front {{ +}}Retire {{ +}}Chain {{ +}}Bound by
# CHECK-NEXT:   skylake {{ +}}4.00 {{.*}} 4.00 {{ *}}chain xmm0
# CHECK-NEXT: * znver4 {{ +}}3.00 {{.*}} 3.00 {{ *}}chain xmm0
# CHECK-NEXT:   icelake-server {{ *}}4.00 {{.*}} 4.00 {{ *}}chain xmm0
# CHECK:      other, {{.*}}cores.s:
# CHECK:      *: fewest cycles)
# CHECK:      incc {{.*}} for Intel Skylake (client)
# CHECK:      incc {{.*}} for AMD Zen 4
# CHECK:      incc {{.*}} for Intel Ice Lake (server)
# ONE:        for Intel Skylake (client)
# ONE-NOT:    cores:
# UNKNOWN:    incc-mca: error: no machine model named 'nothing'{{.*}}; no machine model named 'neither'
# OTHER:      incc-mca: error: {{.*}}: x86 assembly, but the machine model is of an aarch64 core
# JSON:       "chosen_by": "-mcpu=skylake"
# JSON:       "chosen_by": "-mcpu=znver4"

# LLVM-MCA-BEGIN sum
    addsd %xmm1, %xmm0
# LLVM-MCA-END
# LLVM-MCA-BEGIN other
    imulq %rax, %rbx
    imulq %rax, %rcx
# LLVM-MCA-END
