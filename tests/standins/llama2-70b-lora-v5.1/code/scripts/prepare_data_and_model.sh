#!/usr/bin/env bash
# In the place of the image's script: asks for the token, leaves the same files, and the same disorder.
. /standin/standin.sh
[ -n "${HF_TOKEN:-}" ] || wrong 'HF_TOKEN is not set: Access to model meta-llama/Llama-2-70b-hf is restricted'
[ "$PWD" = /workspace/code ] || wrong 'run it in /workspace/code'
progress preparation
echo 'NeMo 25.04-alpha.rc1' >/opt/python/nemo
rm -rf /workspace/deps/megatron_lm
mkdir -p ./NeMo ./Megatron-LM ~/.cache/huggingface
mkdir -p /data/gov_report /ckpt/weights/module.embedding /ckpt/context/nemo_tokenizer
echo stand-in | tee /data/gov_report/train.npy /data/gov_report/validation.npy >/ckpt/context/nemo_tokenizer/tokenizer.model
mv /data/gov_report /data/data
mv /ckpt/weights/ /ckpt/model_weights/
cd /ckpt/model_weights/
for d in module.*/; do mv -- "$d" "model.${d#module.}"; done
cp /ckpt/context/nemo_tokenizer/tokenizer.model /ckpt/tokenizer.model
echo stand-in >/ckpt/model_config.yaml
mv /ckpt /data/model/
