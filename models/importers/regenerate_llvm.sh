#!/bin/sh
# Makes again what is LLVM's in the models: those of cores that nobody has measured, what the others lack, and LLVM's names
# of resources. Usage: regenerate_llvm.sh [DATA], the folder of models, default models/data
# Needs incc-model and LLVM 19's development files; INCC_MODEL names another incc-model.
set -eu

data=${1:-models/data}

# from MODEL [OPTION…]
from() {
  model=$1
  shift
  ${INCC_MODEL:-incc-model} --model-path "$data" import llvm "$@" -o "$data/$model.toml"
}

# Cores whose units have names in LLVM that are one of ours each; inherited by those that inherit from them.
for model in core2 nehalem sandybridge haswell broadwell skylake skylake-avx512 icelake-client meteorlake graniterapids \
  znver1 znver2 znver3 znver4 btver2 bdver2 silvermont bonnell; do
  from $model --resources --mcpu $model
done

# All that LLVM has of these cores.
for model in btver2 bdver2; do
  from $model --all --mcpu $model
done

# What the models lack of what LLVM says that the core has. `--kinds`: LLVM analyses these as another core, whose ports they
# do not have.
for model in core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell skylake skylake-avx512 cascadelake \
  icelake-client icelake-server tigerlake meteorlake alderlake graniterapids sapphirerapids \
  znver1 znver2 znver3 znver4; do
  from $model --all --fill --mcpu $model
done
# What these have beside the cores that they inherit from.
for model in cannonlake cooperlake knl; do
  from $model --all --mcpu $model
done
# What LLVM has figures of though the core, as LLVM 19 has it, lacks it.
for model in btver2 bdver2; do
  from $model --fill --mcpu $model --features D3NOW,D3NOWEXT,BMI2
done
from knl --fill --mcpu knl --features AVX512ER,AVX512PF
for model in btver2 bdver2 sandybridge haswell; do
  from $model --fill --mcpu $model --features XSAVE,XSAVEC,XSAVEOPT,XSAVES --forms 'X*'
done
from silvermont --fill --mcpu silvermont --features XSAVE,XSAVEC,XSAVEOPT,XSAVES --forms 'X*' --kinds int=IN01,vector=VX01,branch=JP0
for pair in bonnell:IN01:VX01:JP0 silvermont:IN01:VX01:JP0 goldmont:IN012:VX01:JP0 goldmont-plus:IN012:VX01:JP0 \
  tremont:IN012:VX01:JP0 gracemont:IN0123:VX012:JP01; do
  IFS=: read -r model int vector branch <<END
$pair
END
  from "$model" --all --fill --mcpu "$model" --kinds "int=$int,vector=$vector,branch=$branch"
done
from crestmont --all --fill --mcpu sierraforest --kinds int=IN0123,vector=VX012,branch=JP01
from skymont --all --fill --mcpu arrowlake --kinds int=IN01234567,vector=VX0123,branch=JP012
from arrowlake --all --fill --mcpu arrowlake --kinds int=IN012345,vector=VX0123,branch=IN024
from znver5 --all --fill --mcpu znver5 --kinds int=ALU012345,vector=FP0123,branch=ALU345

# What LLVM has figures of for every core, since x86-64 has it somewhere.
everywhere="--fill --features SVM --forms INVLPGA*"
for model in core2 nehalem sandybridge haswell skylake icelake-client meteorlake \
  znver1 znver2 znver3 znver4 btver2 bdver2; do
  from $model $everywhere --mcpu $model
done
for pair in bonnell:IN01:VX01:JP0 silvermont:IN01:VX01:JP0 goldmont:IN012:VX01:JP0 goldmont-plus:IN012:VX01:JP0 \
  tremont:IN012:VX01:JP0 gracemont:IN0123:VX012:JP01; do
  IFS=: read -r model int vector branch <<END
$pair
END
  from "$model" $everywhere --mcpu "$model" --kinds "int=$int,vector=$vector,branch=$branch"
done
from crestmont $everywhere --mcpu sierraforest --kinds int=IN0123,vector=VX012,branch=JP01
from skymont $everywhere --mcpu arrowlake --kinds int=IN01234567,vector=VX0123,branch=JP012
from arrowlake $everywhere --mcpu arrowlake --kinds int=IN012345,vector=VX0123,branch=IN024
from znver5 $everywhere --mcpu znver5 --kinds int=ALU012345,vector=FP0123,branch=ALU345

# LLVM's model for code that is for no core in particular: everything that any processor has.
every=ADX,AES,AESKLE,AMX_BF16,AMX_COMPLEX,AMX_FP16,AMX_INT8,AMX_TILE,AVX,AVX2,AVX512BW,AVX512CD,AVX512DQ,AVX512ER
every=$every,AVX512F,AVX512PF,AVX512VL,AVX512_4FMAPS,AVX512_4VNNIW,AVX512_BF16,AVX512_BITALG,AVX512_FP16,AVX512_IFMA
every=$every,AVX512_VBMI,AVX512_VBMI2,AVX512_VNNI,AVX512_VP2INTERSECT,AVX512_VPOPCNTDQ,AVX_IFMA,AVX_NE_CONVERT,AVX_VNNI
every=$every,AVX_VNNI_INT16,AVX_VNNI_INT8,BMI1,BMI2,CET_IBT,CET_SS,CLDEMOTE,CLFLUSHOPT,CLFSH,CLWB,CLZERO,CMOV,CMPCCXADD
every=$every,CMPXCHG16B,CPUID,CX8,D3NOW,D3NOWEXT,ENQCMD,F16C,FMA,FMA4,FPU,FPU287,FPU387,FSGSBASE,FXSR,GFNI,HLE_OR_RTM
every=$every,HRESET,INTEL186,INTEL286,INTEL386,INTEL486,INTEL8086,INVPCID,KL,LWP,LZCNT,MMX,MONITOR,MONITORX,MOVBE
every=$every,MOVDIR64B,MOVDIRI,MSR,MULTIBYTENOP,PAUSE,PCLMULQDQ,PCONFIG,PKU,POPCNT,PREFETCHITI,PREFETCHW,PREFETCHWT1
every=$every,PTWRITE,RAO_INT,RDPID,RDPMC,RDPRU,RDRAND,RDSEED,RDTSCP,RTM,SEP,SERIALIZE,SGX1,SHA,SHA512,SM3,SM4,SMAP
every=$every,SSE,SSE2,SSE3,SSE4A,SSE4_1,SSE4_2,SSSE3,SVM,SYSCALL,TBM,TSC,TSXLDTRK,UINTR,VAES,VMX,VPCLMULQDQ,WAITPKG
every=$every,WBNOINVD,WIDE_KL,X64,XOP,XSAVE,XSAVEC,XSAVEOPT,XSAVES
every=$every,FRED,INVEPT,INVLPGB,INVVPID,LKGS,MCOMMIT,MSRLIST,OSS,PADLOCK_ACE,PADLOCK_PHE,PADLOCK_PMM,PADLOCK_RNG
every=$every,RMPQUERY,SEV_ES,SEV_SNP,SKINIT_OR_SVM,SMM,SMX,TDX,TSE,WRMSRNS
from generic-x86-64 --mcpu x86-64 --features $every
