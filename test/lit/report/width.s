# Narrow output cuts instructions, wide output does not; llvm-mca's views can be chosen one by one.
#
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake-avx512 -all-views=false -resource-pressure %s | FileCheck %s --strict-whitespace --check-prefix=NARROW
# RUN: env COLUMNS=200 incc-mca -mcpu=skylake-avx512 -all-views=false -resource-pressure %s | FileCheck %s --strict-whitespace --check-prefix=WIDE
# RUN: env COLUMNS=80 incc-mca -mcpu=skylake-avx512 -timeline %s | %python -c "import sys; sys.exit(any(len(l) > 81 for l in sys.stdin))"
#
# NARROW-NOT:{{.*}}Iterations:
# NARROW:{{^}}Resource pressure by instruction:
# NARROW:{{^}}[0]  [1]  [2]  [3]  [4]  [5]  [6]  [7]  [8]  Instructions:
# NARROW-NOT:%zmm17{k1}{z}
# NARROW:vfmadd213pd 8192(%rax,%rcx,8), %zm…
# NARROW-NOT:Instruction Info
#
# WIDE:{{^}}[0]    [1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]    Instructions:
# WIDE:{{ *[-0-9].*}} vfmadd213pd 8192(%rax,%rcx,8), %zmm16, %zmm17{%k1}{z}
	vfmadd213pd 8192(%rax,%rcx,8), %zmm16, %zmm17{%k1}{z}
	addq $8, %rcx
