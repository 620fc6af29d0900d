#!/usr/bin/env bash
# In the place of Quark's script: the guide's arguments, each of them, and no others.
. /standin/standin.sh
declare -A given=()
while [ $# -gt 0 ]; do
  case $1 in
  --model_dir | --output_dir | --quant_scheme | --dataset | --num_calib_data | --model_export)
    [ $# -ge 2 ] || wrong "argument $1: expected one argument"
    given[$1]=$2; shift ;;
  --no_weight_matrix_merge) given[$1]=yes ;;
  *) wrong "unrecognized arguments: $*" ;;
  esac
  shift
done
for name in --model_dir --output_dir --quant_scheme --dataset --num_calib_data --model_export --no_weight_matrix_merge; do
  [ -n "${given[$name]:-}" ] || wrong "the following arguments are required: $name"
done
[ "${given[--quant_scheme]}" = w_fp8_a_fp8_o_fp8 ] || wrong "argument --quant_scheme: invalid choice: '${given[--quant_scheme]}'"
[ -d "${given[--model_dir]}" ] || wrong "there is no model in ${given[--model_dir]}"
[ -f "${given[--dataset]}" ] || wrong "there is no calibration dataset ${given[--dataset]}"
progress quantization
mkdir -p "${given[--output_dir]}"
echo 'stand-in of quantized weights' >"${given[--output_dir]%/}/llama.safetensors"
