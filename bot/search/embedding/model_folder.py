"""A folder with an ONNX embedding model, in the layout of sentence-transformers and its exporters.

Files: https://sbert.net/docs/sentence_transformer/usage/custom_models.html (``modules.json``,
``1_Pooling/config.json``, ``config_sentence_transformers.json``, ``sentence_bert_config.json``).
Required are a model (``model.onnx``, ``onnx/model.onnx`` or a quantized one) and
``tokenizer.json``; missing optional files have the usual defaults, and settings override them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.errors import InvalidSetting
from bot.search.embedding.embedder import fingerprint

SETTING = "FOOTNOTE_EMBEDDINGS_MODEL_DIR"
Pooling = Literal["mean", "cls", "last"]

USUAL_TOKENS = 512  # if no file specifies the model's limit
LONGEST_TOKENS = 8_192  # more than any passage has; some tokenizers specify 10 ** 30
SAMPLE_BYTES = 1_000_000  # hashed at the beginning, the middle and the end of a file

# Where exporters put the model: the first that exists is used, otherwise any other one.
_PLACES = ("model.onnx", "onnx/model.onnx")
_POOLING: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_mean": "mean",  # its name in newer versions
    "pooling_mode_cls": "cls",
}
_PASSAGE_PROMPTS = ("passage", "document", "corpus")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The configuration of a model, read from its folder.

    ``max_tokens`` includes special tokens. ``lower_case``: texts are lower-cased first.
    ``fingerprint`` changes with the weights, the tokenizer and all of the above.
    """

    path: Path
    model: Path
    tokenizer: Path
    pooling: Pooling
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    lower_case: bool
    fingerprint: str


def read_model_folder(
    path: Path,
    *,
    pooling: Pooling | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
    max_tokens: int | None = None,
) -> ModelFolder:
    """Read the configuration from a folder; arguments override what its files specify.

    Raises ``InvalidSetting``, which names the file that is missing or unusable.
    """
    path = path.expanduser()
    if not path.is_dir():
        raise InvalidSetting(f"{SETTING} names {path}, which is not a folder: correct it.")
    try:
        tokenizer = path / "tokenizer.json"
        if not tokenizer.is_file():
            raise _unfit(tokenizer, "is missing: it comes with the model")
        model = _model(path)
        _check_modules(path)
        prompts = _object(path / "config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        sentence_bert = _object(path / "sentence_bert_config.json")
        chosen = pooling or _pooling(path)
        query = str(prompts.get("query", "")) if query_prefix is None else query_prefix
        named = next((str(prompts[each]) for each in _PASSAGE_PROMPTS if each in prompts), "")
        passage = named if passage_prefix is None else passage_prefix
        tokens = max_tokens or _max_tokens(path, sentence_bert)
        lower_case = sentence_bert.get("do_lower_case") is True
        options = (chosen, query, passage, str(tokens), str(lower_case))
        digest = fingerprint(_digest(model), _digest(tokenizer), *options)
    except OSError as error:
        raise InvalidSetting(
            f"The model in {path} cannot be read ({error.strerror}): check its permissions.",
            detail=str(error),
        ) from error
    return ModelFolder(path, model, tokenizer, chosen, tokens, query, passage, lower_case, digest)


def _model(path: Path) -> Path:
    for place in _PLACES:
        if (path / place).is_file():
            return path / place
    others = sorted([*path.glob("*.onnx"), *path.glob("onnx/*.onnx")])
    if not others:
        raise InvalidSetting(
            f"There is no model.onnx in {path}: {SETTING} must name a folder with an ONNX model."
        )
    if len(others) > 1:
        raise InvalidSetting(
            f"There are several models in {path} ({', '.join(each.name for each in others)}): "
            "call the one to use model.onnx."
        )
    return others[0]


def _check_modules(path: Path) -> None:
    """Reject a model with layers that are not supported. Raises ``InvalidSetting``."""
    for module in _list(path / "modules.json"):
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise _unfit(
                path / "modules.json",
                f"names a {kind} layer, which is not supported here: use another model",
            )


def _pooling(path: Path) -> Pooling:
    folder = next(
        (
            str(module.get("path", ""))
            for module in _list(path / "modules.json")
            if str(module.get("type", "")).endswith("Pooling")
        ),
        "1_Pooling",
    )
    file = path / folder / "config.json"
    config = _object(file)
    modes = [name for name, value in config.items() if name.startswith("pooling_mode") and value]
    if "pooling_mode" in config:  # newer versions use a name, older ones a flag per mode
        modes = [f"pooling_mode_{config['pooling_mode']}"]
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in _POOLING:
        raise _unfit(file, f"asks for {' and '.join(modes)}, which is not known here")
    return _POOLING[modes[0]]


def _max_tokens(path: Path, sentence_bert: dict[str, Any]) -> int:
    """The lowest limit in the files; RoBERTa's position numbers begin after the padding id."""
    config = _object(path / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and "roberta" in str(config.get("model_type", "")):
        positions -= int(config.get("pad_token_id") or 0) + 1
    found = [
        sentence_bert.get("max_seq_length"),
        _object(path / "tokenizer_config.json").get("model_max_length"),
        positions,
    ]
    limits = [int(each) for each in found if isinstance(each, int | float) and each >= 8]
    return min([*limits, LONGEST_TOKENS]) if limits else USUAL_TOKENS


def _digest(file: Path) -> str:
    """Identify a file by size and samples: reading 500 MB at every start would take a second."""
    digest = hashlib.blake2b(digest_size=16)
    size = file.stat().st_size
    digest.update(size.to_bytes(8, "little"))
    with open(file, "rb") as content:
        for start in sorted({0, max(0, size // 2), max(0, size - SAMPLE_BYTES)}):
            content.seek(start)
            digest.update(content.read(SAMPLE_BYTES))
    return digest.hexdigest()


def _list(file: Path) -> Iterator[dict[str, Any]]:
    data = _json(file)
    if data is not None and not isinstance(data, list):
        raise _unfit(file, "holds no list")
    yield from (each for each in data or [] if isinstance(each, dict))


def _object(file: Path) -> dict[str, Any]:
    data = _json(file)
    if data is not None and not isinstance(data, dict):
        raise _unfit(file, "holds no object")
    return data or {}


def _json(file: Path) -> Any:
    """The content of a JSON file; None if the file does not exist."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise _unfit(file, "is not valid JSON: copy it again") from None


def _unfit(file: Path, why: str) -> InvalidSetting:
    return InvalidSetting(f"{file} {why} ({SETTING}).")
