#!/bin/sh
# MLPerf's reference implementation in /inference, at one commit, and its LoadGen. Of NVIDIA's DeepLearningExamples,
# which is a submodule of hundreds of megabytes, only BERT's tokenizer, at the submodule's commit.
set -eu
git clone --filter=blob:none --no-checkout https://github.com/mlcommons/inference.git /inference
cd /inference
git sparse-checkout set loadgen language/bert vision/classification_and_detection vision/medical_imaging/3d-unet-kits19
git checkout "$INFERENCE_COMMIT"
python3 -m pip install --no-build-isolation ./loadgen
examples=https://raw.githubusercontent.com/NVIDIA/DeepLearningExamples/b03375bd6c2c5233130e61a3be49e26d1a20ac7c/PyTorch/LanguageModeling/BERT
mkdir -p /opt/tokenization
for file in tokenization.py file_utils.py; do curl -fsSL -o "/opt/tokenization/$file" "$examples/$file"; done
