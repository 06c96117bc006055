"""An embedder that runs an ONNX model in this process.

Its dependencies are in the extra ``[vectors]``. Nothing is ever downloaded: the operator names a
folder with the weights.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import Broken, InvalidSetting
from bot.extras import need
from bot.search.embedding.embedder import Vector, unit
from bot.search.embedding.model_folder import SETTING, ModelFolder, Pooling, read_model_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

BATCH_TEXTS = 32
BATCH_TOKENS = 4_096  # including padding; as much as fits into a processor's cache
LONGEST_CHARACTERS = 12  # per token; text beyond the limit is cut off before it is tokenized
NAMED_OUTPUTS = ("sentence_embedding", "sentence_embeddings")  # already pooled
TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")


class OnnxModel:
    """See the module docstring; implements ``Embedder``.

    The folder is read and the weights are loaded when first needed; problems are raised at that
    time as ``InvalidSetting``. Arguments other than ``path`` override what the folder's files
    specify; ``threads`` limits the threads (0: one per processor).
    """

    def __init__(
        self,
        path: Path,
        *,
        pooling: Pooling | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        max_tokens: int | None = None,
        threads: int = 0,
    ) -> None:
        self.name = path.name or str(path)
        self._read = partial(
            read_model_folder,
            path,
            pooling=pooling,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            max_tokens=max_tokens,
        )
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    @cached_property
    def _folder(self) -> ModelFolder:
        return self._read()

    @property
    def model(self) -> str:
        """See ``Embedder``. Raises ``InvalidSetting``."""
        return self._folder.fingerprint

    async def embed_question(self, text: str) -> Vector:
        """See ``Embedder``."""
        return (await self._embedded(self._folder.query_prefix, [text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``Embedder``."""
        return await self._embedded(self._folder.passage_prefix, texts)

    async def aclose(self) -> None:
        """Release the weights."""
        self._loaded = None

    async def _embedded(self, prefix: str, texts: Sequence[str]) -> list[Vector]:
        ending = threading.Event()
        try:
            return await asyncio.to_thread(self._embed, [prefix + text for text in texts], ending)
        finally:
            ending.set()  # the thread of a cancelled call ends after its current batch

    # ------------------------------------------------------------ in a thread

    def _embed(self, texts: Sequence[str], ending: threading.Event) -> list[Vector]:
        loaded = self._load()
        # Cut long texts first: the tokenizer would process all of it before truncating.
        most = loaded.folder.max_tokens * LONGEST_CHARACTERS
        texts = [text[:most].lower() if self._folder.lower_case else text[:most] for text in texts]
        encoded = loaded.tokenizer.encode_batch(texts)
        vectors: dict[int, Vector] = {}
        for places in _batches([len(each.ids) for each in encoded]):
            if ending.is_set():
                return []
            pooled = loaded.run([encoded[place] for place in places])
            for place, numbers in zip(places, pooled, strict=True):
                try:
                    vectors[place] = unit(numbers.tolist())
                except ValueError as error:
                    raise Broken(
                        f"The model in {self._folder.path} gives no usable vectors: is it made "
                        "for embeddings?",
                        detail=str(error),
                    ) from error
        return [vectors[place] for place in range(len(texts))]

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._folder, self._threads)
            return self._loaded


@dataclass(frozen=True, slots=True)
class _Loaded:
    folder: ModelFolder
    tokenizer: Any
    pad_id: int
    session: Any
    inputs: frozenset[str]
    output: str
    is_pooled: bool

    def run(self, encoded: Sequence[Any]) -> Numbers:
        """A matrix with one vector for each encoded text."""
        import numpy as np

        longest = max(len(each.ids) for each in encoded)
        ids = np.full((len(encoded), longest), self.pad_id, dtype=np.int64)
        mask = np.zeros((len(encoded), longest), dtype=np.int64)
        for row, each in enumerate(encoded):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (output,) = self.session.run(
            [self.output], {name: value for name, value in inputs.items() if name in self.inputs}
        )
        pooled: Numbers = output if self.is_pooled else _pool(output, mask, self.folder.pooling)
        return pooled


def _pool(hidden: Numbers, mask: Numbers, pooling: Pooling) -> Numbers:
    import numpy as np

    weights = mask[:, :, None].astype(hidden.dtype)
    ways: dict[Pooling, Callable[[], Numbers]] = {
        "cls": lambda: hidden[:, 0],
        "last": lambda: hidden[np.arange(len(hidden)), mask.sum(axis=1) - 1],
        "mean": lambda: (hidden * weights).sum(axis=1) / weights.sum(axis=1),
    }
    return ways[pooling]()


def _load(folder: ModelFolder, threads: int) -> _Loaded:
    """Raises ``InvalidSetting`` if something is missing or is not an embedding model."""
    need("vectors", SETTING)
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors: warnings are about how models were exported
    options.intra_op_num_threads = threads
    try:
        tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        session = onnxruntime.InferenceSession(
            str(folder.model), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # both libraries raise their own classes, and plain Exception
        raise InvalidSetting(
            f"The model in {folder.path} cannot be loaded: copy model.onnx and tokenizer.json "
            "again.",
            detail=f"{type(error).__name__}: {error}",
        ) from error
    pad_id = int((tokenizer.padding or {}).get("pad_id", 0))
    tokenizer.no_padding()  # it would pad to the longest of all texts, not of a batch
    tokenizer.enable_truncation(max_length=folder.max_tokens)
    return _checked(folder, tokenizer, pad_id, session)


def _checked(folder: ModelFolder, tokenizer: Any, pad_id: int, session: Any) -> _Loaded:
    """Check that the model takes tokens and returns vectors. Raises ``InvalidSetting``."""
    inputs = frozenset(each.name for each in session.get_inputs())
    unknown = inputs - {"input_ids", "attention_mask", "token_type_ids"}
    shapes = {each.name: len(each.shape or ()) for each in session.get_outputs()}
    named = [name for name in NAMED_OUTPUTS if shapes.get(name) == 2]
    tokens = [name for name in TOKEN_OUTPUTS if shapes.get(name) == 3]
    others = [name for name, dimensions in shapes.items() if dimensions == 3]
    if unknown or not (named or tokens or others):
        raise InvalidSetting(
            f"{folder.model} is not an embedding model: it has the inputs "
            f"{', '.join(sorted(inputs))} and the outputs {', '.join(sorted(shapes))}."
        )
    output = [*named, *tokens, *others][0]
    return _Loaded(folder, tokenizer, pad_id, session, inputs, output, is_pooled=bool(named))


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The positions of texts in groups of similar length, to minimize padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if batch and (
            len(batch) >= BATCH_TEXTS or lengths[place] * (len(batch) + 1) > BATCH_TOKENS
        ):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
