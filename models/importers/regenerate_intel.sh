#!/bin/sh
# Makes the imported parts of the models of Intel's cores again, from the sources that docs/models.md names.
# Usage: regenerate_intel.sh UOPS_INFO OSACA MEASURED [DATA]
#   UOPS_INFO: a folder with uops.info's measurements, SKL.jsonl.gz …, or its instructions.xml
#   OSACA: OSACA's folder of machine files, osaca/data
#   MEASURED: what was measured on Granite Rapids, redwood_cove.jsonl.gz
#   DATA: the folder of models, default models/data
# Needs incc-model and LLVM 19's development files; INCC_MODEL names another incc-model.
set -eu

uops_info=${1:?folder of measurements by uops.info}
osaca=${2:?folder of machine files of OSACA}
redwood_cove=${3:?measurements of Redwood Cove, redwood_cove.jsonl.gz}
data=${4:-models/data}
# What was measured of Golden Cove beside, where it differs or nobody else has it.
golden_cove=$(dirname "$0")/measured/golden_cove

incc_model() { ${INCC_MODEL:-incc-model} --model-path "$data" "$@"; }

# start MODEL: takes away what was imported before, so that nothing of it is kept
start() { sed -i '/^# --- written by incc-model import/,$d' "$data/$1.toml"; }

# from SOURCE MODEL [OPTION…]
from() {
  source=$1 model=$2
  shift 2
  incc_model import "$source" "$@" -o "$data/$model.toml"
}

# uops CORE MODEL [OPTION…]
uops() {
  core=$1 model=$2
  shift 2
  if [ -e "$uops_info/$core.jsonl.gz" ]; then
    from uops.info "$model" "$uops_info/$core.jsonl.gz" "$@"
  else
    from uops.info "$model" "$uops_info/instructions.xml" --arch "$core" "$@"
  fi
}

# features MODEL: the CPUID features of its forms
features() {
  python3 - "$1" "$data" <<'END'
import sys
from incc.models.forms.shapes import by_key, features
from incc.models.loading import load
print(",".join(sorted({f for form in load(sys.argv[1], [sys.argv[2]]).forms() for f in features(by_key()[form])})))
END
}

system=FPU,FPU287,FPU387,SEP,SYSCALL,MONITOR

for pair in CON:core2 WOL:penryn NHM:nehalem WSM:westmere; do
  start "${pair#*:}"
  uops "${pair%:*}" "${pair#*:}"
  from derive "${pair#*:}" --fill
done

start sandybridge
uops SNB sandybridge
from derive sandybridge --fill
from llvm sandybridge --fill --mcpu sandybridge --features $system
start ivybridge
uops IVB ivybridge

start haswell
uops HSW haswell
from derive haswell --fill
from llvm haswell --fill --mcpu haswell --features $system,INVPCID,RTM,HLE_OR_RTM
start broadwell
uops BDW broadwell
from llvm broadwell --fill --mcpu broadwell --features SMAP

start skylake
uops SKL skylake
from derive skylake --fill
from llvm skylake --fill --mcpu skylake --features $system,CET_IBT,RTM,SMAP,INVPCID,HLE_OR_RTM
avx512=AVX512F,AVX512VL,AVX512BW,AVX512DQ,AVX512CD,CLWB,PKU
start skylake-avx512
from osaca skylake-avx512 "$osaca/skx.yml" --features $avx512
from derive skylake-avx512 --fill --features $avx512
from llvm skylake-avx512 --fill --mcpu skylake-avx512 --features $avx512
start cascadelake
from llvm cascadelake --mcpu cascadelake --features AVX512_VNNI

start meteorlake
uops MTL-P meteorlake
from derive meteorlake --fill
from llvm meteorlake --fill --mcpu alderlake --features $system,CET_IBT,SMAP,INVPCID
from measured meteorlake "$redwood_cove" --prefer --features AVX_VNNI

kinds=ALU=IN012345,JMP=IN024,SHIFT=IN024,SLOW=IN135,INT_OTHER=IN135,V01=VX01,V23=VX23,UNKNOWN=VX0123
start arrowlake
uops ARL-P arrowlake --rename-ports $kinds,LD=LP012,STA=ST012,STD=SX01
from derive arrowlake --fill

new=AVX512_VNNI,AVX512_IFMA,AVX512_VBMI,AVX512_VBMI2,AVX512_BITALG,AVX512_VPOPCNTDQ
new=$new,GFNI,VAES,VPCLMULQDQ,SHA,CLWB,PKU,RDPID
start icelake-client
from osaca icelake-client "$osaca/icl.yml" --features "$(features skylake-avx512),$new"
# The divider came with Ice Lake; Meteor Lake's P-core has it, and was measured.
for forms in 'DIV_*' 'IDIV_*'; do
  from predecessor icelake-client --mcpu meteorlake --ports p0156B=p0156,p23A=p23,p15B=p15 --forms "$forms"
done
from predecessor icelake-client --mcpu skylake-avx512 --ports p237=p78,p4=p49
from derive icelake-client --fill --features $new
from llvm icelake-client --fill --mcpu icelake-client --features $new
# Nobody has measured it there, and LLVM does not know its ports.
from predecessor meteorlake --fill --mcpu icelake-client --ports p0156=p0156B,p23=p23A,p15=p15B --forms 'FSQRT/r'
start tigerlake
from llvm tigerlake --fill --mcpu tigerlake --features AVX512_VP2INTERSECT
# What the second 512-bit unit for multiplication and addition does, measured on Skylake-SP.
start icelake-server
for forms in VF VADDP VSUBP VMULP VMAXP VMINP VCVT VPMADD VPMUL VRNDSCALE VSCALEF VRANGE VREDUCE VGETEXP VGETMANT; do
  from predecessor icelake-server --mcpu skylake-avx512 --ports p237=p78,p4=p49 --forms "EVEX_$forms*ZMM*"
done
from predecessor icelake-server --mcpu cascadelake --ports p237=p78,p4=p49 --forms 'EVEX_VPDP*ZMM*'

start graniterapids
all=$(features icelake-server)
from osaca graniterapids "$osaca/spr.yml" --features "$all" --rename-ports 10=B,11=A
from derive graniterapids --fill --features "$all"
# 512-bit loads go to two of the three load ports.
from predecessor graniterapids --fill --mcpu icelake-server --ports p0156=p0156B --forms 'EVEX_*ZMM*'
from predecessor graniterapids --fill --mcpu icelake-server --ports p0156=p0156B,p23=p23A
from llvm graniterapids --fill --mcpu sapphirerapids --features "$all,AVX512_FP16,AVX512_BF16"
# What was measured goes over all of these.
from measured graniterapids "$redwood_cove" "${golden_cove}_wide.jsonl" --prefer
start sapphirerapids
from measured sapphirerapids "$golden_cove.jsonl" --prefer
start alderlake
from measured alderlake "$golden_cove.jsonl" --prefer

# atom CORE MODEL INTEGER VECTOR LOAD STORE_ADDRESS STORE_DATA BRANCH: ports by kind of unit
atom() {
  start "$2"
  uops "$1" "$2" --rename-ports "int=$3,vector=$4,load=$5,store_address=$6,store_data=$7,branch=$8"
  from derive "$2" --fill
}
atom BNL bonnell IN01 VX01 LP0 ST0 SX0 JP0
atom AMT silvermont IN01 VX01 LP0 LP0 SX0 JP0
atom GLM goldmont IN012 VX01 LP0 ST0 SX0 JP0
atom GLP goldmont-plus IN012 VX01 LP0 ST0 SX0 JP0
atom TRM tremont IN012 VX01 LP01 LP01 SX01 JP0
atom ADL-E gracemont IN0123 VX012 LP01 ST01 SX01 JP01
atom MTL-E crestmont IN0123 VX012 LP01 ST01 SX01 JP01
atom ARL-E skymont IN01234567 VX0123 LP012 ST0123 SX01 JP012

# Where LLVM says otherwise: listed by incc-model diff --sources, used for nothing.
for model in sandybridge haswell broadwell skylake skylake-avx512 icelake-server alderlake; do
  from llvm "$model" --compare --mcpu "$model"
done
