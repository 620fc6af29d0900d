#!/usr/bin/env bash
. /standin/standin.sh
[ $# = 0 ] || wrong "unrecognized argument: '$1'"
mkdir -p /data/processed-openorca
echo 'a stand-in of the dataset' >/data/processed-openorca/open_orca_gpt4_tokenized_llama.sampled_24576.pkl
echo '[stand-in] /data/processed-openorca/open_orca_gpt4_tokenized_llama.sampled_24576.pkl written'
