"""An ONNX model in a folder: what is wrong with it is one sentence, and nothing is loaded early."""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path

import pytest

from bot.errors import InvalidSetting
from bot.search.embedding.embedder import Vector
from bot.search.embedding.onnx_model import OnnxModel
from tests.fakes.embedding_models import minilm_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return minilm_folder(tmp_path / "minilm")


def dot(one: Vector, other: Vector) -> float:
    return math.fsum(x * y for x, y in zip(one, other, strict=True))


async def test_it_gives_the_vectors_that_the_model_is_known_for(folder: Path) -> None:
    """The model card of all-MiniLM-L6-v2 has 384 numbers and compares these sentences."""
    model = OnnxModel(folder)
    one, other, far = await model.embed_passages(
        ["That is a happy person", "That is a very happy person", "Today is a sunny day"]
    )

    assert len(one) == 384
    assert dot(one, other) == pytest.approx(0.943, abs=0.02)
    assert dot(one, far) == pytest.approx(0.257, abs=0.03)


async def test_pooling_and_prefixes_change_the_vector(folder: Path) -> None:
    text = "That is a happy person"
    (usual,) = await OnnxModel(folder).embed_passages([text])
    (first,) = await OnnxModel(folder, pooling="cls").embed_passages([text])
    (last,) = await OnnxModel(folder, pooling="last").embed_passages([text])
    (prefixed,) = await OnnxModel(folder, passage_prefix="passage: ").embed_passages([text])
    asked = await OnnxModel(folder, query_prefix="passage: ").embed_question(text)

    assert len({tuple(each) for each in (usual, first, last, prefixed)}) == 4
    assert asked == pytest.approx(prefixed, abs=1e-6)


async def test_a_long_text_is_cut_where_the_model_ends(folder: Path) -> None:
    model = OnnxModel(folder, max_tokens=16)
    words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"

    whole, longer = await model.embed_passages([words, f"{words} {'fifteen ' * 1_000}"])

    assert dot(whole, longer) == pytest.approx(1.0, abs=1e-4)


async def test_weights_are_loaded_for_the_first_text_and_forgotten_at_the_end(folder: Path) -> None:
    model = OnnxModel(folder)
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"no weights")

    with pytest.raises(InvalidSetting, match="cannot be loaded"):
        await model.embed_question("How?")
    (folder / "model.onnx").unlink()
    shutil.copy(minilm_folder(folder.parent / "sound") / "model.onnx", folder / "model.onnx")
    assert await model.embed_question("How?")
    await model.aclose()
    assert await model.embed_question("How?"), "it is loaded again"


async def test_a_folder_that_is_missing_is_told_when_it_is_needed(tmp_path: Path) -> None:
    model = OnnxModel(tmp_path / "none")

    assert model.name == "none"
    with pytest.raises(InvalidSetting, match="FOOTNOTE_EMBEDDINGS_MODEL_DIR"):
        await model.embed_question("How?")
    with pytest.raises(InvalidSetting, match="FOOTNOTE_EMBEDDINGS_MODEL_DIR"):
        _ = model.model


@pytest.mark.parametrize("package", ["numpy", "onnxruntime", "tokenizers"])
async def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(
    folder: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(InvalidSetting, match=r"pip install 'footnote-bot\[vectors\]'"):
        await OnnxModel(folder).embed_question("How?")


async def test_a_tokenizer_that_is_none_is_told(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text("{}")

    with pytest.raises(InvalidSetting, match="cannot be loaded"):
        await OnnxModel(folder).embed_question("How?")
