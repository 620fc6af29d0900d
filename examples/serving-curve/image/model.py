"""Makes the model that is served: a small Llama with random weights as GGUF, and its tokenizer as a directory that clients load.

No training and no chance are involved: the tokenizer's text is Python's own help, the weights are from a fixed seed, so every
build makes the same. What it writes makes no sense; what it costs to compute is that of a trained model of this size.
"""

import json
import os
import pydoc_data.topics
import sys

import gguf
import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY, CONTEXT = 2048, 512
WIDTH, LAYERS, HEADS, KEY_HEADS, HIDDEN = 512, 8, 8, 2, 1408
END = "<|end|>"
CHAT = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def tokenizer_of(text):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(text.splitlines(keepends=True), trainer)
    return tokenizer


def is_word(tokenizer, number):
    """A word with its blank. In a text of such words, any client counts as many tokens as the server wrote."""
    text = tokenizer.decode([number])
    word = text[1:]
    return text.startswith(" ") and word.isascii() and word.isalpha() and tokenizer.encode(text).ids == [number]


def write_tokenizer(writer, tokenizer):
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([gguf.TokenType.CONTROL if token == END else gguf.TokenType.NORMAL for token, _ in vocabulary])
    writer.add_token_merges([" ".join(pair) for pair in merges])
    end = tokenizer.token_to_id(END)
    writer.add_bos_token_id(end)
    writer.add_eos_token_id(end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT)


def write_weights(writer, words):
    random = np.random.default_rng(58)

    def add(name, rows, columns, keep=None):
        weights = random.standard_normal((rows, columns), np.float32) / np.sqrt(columns)
        if keep is not None:
            weights *= keep[:, None]
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", gguf.quants.quantize(weights, kind), raw_dtype=kind)

    def add_norm(name):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))

    add("token_embd", VOCABULARY, WIDTH)
    keys = WIDTH // HEADS * KEY_HEADS
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        add_norm(f"{block}.attn_norm")
        add(f"{block}.attn_q", WIDTH, WIDTH)
        add(f"{block}.attn_k", keys, WIDTH)
        add(f"{block}.attn_v", keys, WIDTH)
        add(f"{block}.attn_output", WIDTH, WIDTH)
        add_norm(f"{block}.ffn_norm")
        add(f"{block}.ffn_gate", HIDDEN, WIDTH)
        add(f"{block}.ffn_up", HIDDEN, WIDTH)
        add(f"{block}.ffn_down", WIDTH, HIDDEN)
    add_norm("output_norm")
    # Only words are written: all other tokens have the score 0, and the best of a thousand random ones is above it.
    add("output", VOCABULARY, WIDTH, keep=np.float32(words))


def write_model(path, tokenizer):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random-llama")
    writer.add_context_length(CONTEXT)
    writer.add_vocab_size(VOCABULARY)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    write_tokenizer(writer, tokenizer)
    write_weights(writer, [is_word(tokenizer, number) for number in range(VOCABULARY)])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    (directory,) = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    tokenizer = tokenizer_of("\n".join(pydoc_data.topics.topics.values()))
    write_model(f"{directory}/model.gguf", tokenizer)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, pad_token=END, model_max_length=CONTEXT, chat_template=CHAT
    ).save_pretrained(directory)


if __name__ == "__main__":
    main()
