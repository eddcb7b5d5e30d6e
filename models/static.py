"""The static word vectors and the tokenizer that ship in the `wordllama` package, loaded once.

Only the package's two data files are used. Its code configures the root logger when imported, pads
a batch to its longest text (one text of a megabyte would take gigabytes), and turns an empty text
into NaN; mean pooling of word vectors is one line of numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

DIMENSION = 256
_VECTORS = f"weights/l2_supercat_{DIMENSION}.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_BATCH = 256
"""Texts tokenized at a time: enough to use all cores, small in memory."""

_loading = Lock()


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A vector for each of the 32,000 tokens of Llama 2."""

    tokenizer: Tokenizer
    vectors: NDArray[np.float32]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text."""
        ids: list[list[int]] = []
        for first in range(0, len(texts), _BATCH):
            batch = list(texts[first : first + _BATCH])
            encodings = self.tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            ids += [encoding.ids for encoding in encodings]
        return ids

    @property
    def word_start(self) -> int | None:
        """Id of the mark that stands before a word which has no token of its own."""
        return self.tokenizer.token_to_id("▁")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Mean of the vectors of each text's tokens, of length 1; shape (texts, 256).

        A text without tokens has no meaning to point at; it becomes the first axis, which is close
        to nothing and safe to store and compare.
        """
        import numpy as np

        means = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for mean, ids in zip(means, self.tokens(texts), strict=True):
            if ids:
                self.vectors[ids].mean(axis=0, out=mean)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        means[lengths[:, 0] == 0, 0] = 1.0
        lengths[lengths == 0] = 1.0
        means /= lengths
        return means


def static_model() -> StaticModel:
    """The model, loaded by the first caller (0.3 s; blocks, so call it off the event loop)."""
    with _loading:
        return _load()


def is_loaded() -> bool:
    """Whether `static_model` answers at once."""
    return _load.cache_info().currsize > 0


@cache
def _load() -> StaticModel:
    import numpy as np
    from safetensors import safe_open
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The offline models need wordllama: pip install wordllama")
    folder = Path(spec.origin).parent
    with safe_open(folder / _VECTORS, framework="np") as file:
        vectors = file.get_tensor("embedding.weight").astype(np.float32)
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    # Without pre-tokenization its cache is keyed by whole texts, which hardly ever repeat: it only
    # grows, to 100 MB, and the threads wait for each other at it.
    tokenizer.model._resize_cache(0)
    return StaticModel(tokenizer, vectors)
