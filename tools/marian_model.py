"""MarianMT models with random weights, for references, comparisons and benchmarks."""

from __future__ import annotations

from transformers import MarianConfig, MarianMTModel


def marian_model(
    words: int, width: int, layers: int, heads: int, feed_forward: int, target_words: int = 0, **settings
) -> MarianMTModel:
    """Of a vocabulary whose first word ends a text and whose last one is the padding and begins a text.

    target_words: of the target's vocabulary, where it has its own.
    settings: others of MarianConfig; they replace those that are set here.
    """
    target_words = target_words or words
    own = {
        "vocab_size": words,
        "decoder_vocab_size": target_words,
        "d_model": width,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": feed_forward,
        "decoder_ffn_dim": feed_forward,
        "pad_token_id": words - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
        "decoder_start_token_id": target_words - 1,
    }
    return MarianMTModel(MarianConfig(**(own | settings))).eval()
