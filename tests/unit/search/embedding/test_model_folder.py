"""Reading of a folder with an embedding model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.errors import InvalidSetting
from bot.search.embedding.model_folder import ModelFolder, read_model_folder


def a_folder(path: Path, **files: Any) -> Path:
    """A folder with a model and a tokenizer (contents do not matter here), and other files: names
    without ``.json``, "__" for "/"."""
    path.mkdir()
    (path / "model.onnx").write_bytes(b"weights")
    (path / "tokenizer.json").write_text("{}")
    for name, content in files.items():
        file = path / f"{name.replace('__', '/')}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content))
    return path


def modules(*kinds: str) -> list[dict[str, Any]]:
    return [
        {
            "idx": i,
            "path": "" if not i else f"{i}_{kind}",
            "type": f"sentence_transformers.models.{kind}",
        }
        for i, kind in enumerate(kinds)
    ]


def told(folder: ModelFolder) -> tuple[str, int, str, str]:
    return folder.pooling, folder.max_tokens, folder.query_prefix, folder.passage_prefix


def test_a_bare_model_has_usual_values(tmp_path: Path) -> None:
    folder = read_model_folder(a_folder(tmp_path / "bare"))

    assert told(folder) == ("mean", 512, "", "")
    assert folder.model == tmp_path / "bare" / "model.onnx"


def test_the_files_of_sentence_transformers_are_followed(tmp_path: Path) -> None:
    folder = a_folder(
        tmp_path / "full",
        modules=modules("Transformer", "Pooling", "Normalize"),
        **{
            "1_Pooling__config": {
                "pooling_mode_cls_token": True,
                "pooling_mode_mean_tokens": False,
            },
            "config_sentence_transformers": {"prompts": {"query": "q: ", "document": "d: "}},
            "sentence_bert_config": {"max_seq_length": 256, "do_lower_case": True},
        },
    )

    found = read_model_folder(folder)

    assert told(found) == ("cls", 256, "q: ", "d: ")
    assert found.lower_case


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_lasttoken": True, "pooling_mode_mean_tokens": False}, "last"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "mean", "word_embedding_dimension": 384}, "mean"),
    ],
)
def test_pooling_is_understood_in_old_and_new_files(
    tmp_path: Path, config: dict[str, Any], pooling: str
) -> None:
    folder = a_folder(tmp_path / "model", **{"1_Pooling__config": config})

    assert read_model_folder(folder).pooling == pooling


@pytest.mark.parametrize(
    ("files", "tokens"),
    [
        ({"tokenizer_config": {"model_max_length": 10**30}}, 8_192),
        ({"tokenizer_config": {"model_max_length": 128}}, 128),
        ({"config": {"model_type": "bert", "max_position_embeddings": 512}}, 512),
        (
            {
                "config": {
                    "model_type": "xlm-roberta",
                    "max_position_embeddings": 514,
                    "pad_token_id": 1,
                }
            },
            512,
        ),
        (
            {
                "config": {"max_position_embeddings": 2_048},
                "sentence_bert_config": {"max_seq_length": 256},
            },
            256,
        ),
        ({"sentence_bert_config": {"max_seq_length": None}}, 512),
    ],
)
def test_the_shortest_length_that_is_named_counts(
    tmp_path: Path, files: dict[str, Any], tokens: int
) -> None:
    assert read_model_folder(a_folder(tmp_path / "model", **files)).max_tokens == tokens


def test_settings_replace_what_the_files_say(tmp_path: Path) -> None:
    folder = a_folder(
        tmp_path / "model", config_sentence_transformers={"prompts": {"query": "q: "}}
    )

    given = read_model_folder(
        folder, pooling="last", query_prefix="", passage_prefix="p: ", max_tokens=64
    )

    assert told(given) == ("last", 64, "", "p: ")


@pytest.mark.parametrize(
    "place", ["model.onnx", "onnx/model.onnx", "onnx/model_qint8_avx512.onnx", "model_int8.onnx"]
)
def test_the_model_is_found_where_exporters_put_it(tmp_path: Path, place: str) -> None:
    folder = a_folder(tmp_path / "model")
    (folder / "model.onnx").unlink()
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_bytes(b"weights")

    assert read_model_folder(folder).model == folder / place


def test_the_plain_name_is_preferred(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "model")
    (folder / "onnx").mkdir()
    (folder / "onnx/model_quantized.onnx").write_bytes(b"weights")

    assert read_model_folder(folder).model.name == "model.onnx"


def test_several_models_are_too_many(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "model")
    (folder / "model.onnx").unlink()
    (folder / "a.onnx").write_bytes(b"weights")
    (folder / "b.onnx").write_bytes(b"weights")

    with pytest.raises(InvalidSetting, match=r"a\.onnx, b\.onnx.*call the one to use model\.onnx"):
        read_model_folder(folder)


def broken_json(folder: Path) -> None:
    (folder / "modules.json").write_text("[{")


def no_list(folder: Path) -> None:
    (folder / "modules.json").write_text("{}")


def dense_layer(folder: Path) -> None:
    (folder / "modules.json").write_text(json.dumps(modules("Transformer", "Pooling", "Dense")))


def odd_pooling(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_max_tokens": true}')


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def no_model(folder: Path) -> None:
    (folder / "model.onnx").unlink()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (broken_json, r"modules\.json is not valid JSON"),
        (no_list, r"modules\.json holds no list"),
        (dense_layer, r"modules\.json names a Dense layer"),
        (odd_pooling, r"1_Pooling/config\.json asks for pooling_mode_max_tokens"),
        (no_tokenizer, r"tokenizer\.json is missing"),
        (no_model, r"There is no model\.onnx"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, spoil: Any, words: str) -> None:
    folder = a_folder(tmp_path / "model")
    spoil(folder)

    with pytest.raises(InvalidSetting, match=words) as caught:
        read_model_folder(folder)
    assert "FOOTNOTE_EMBEDDINGS_MODEL_DIR" in caught.value.sentence


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="none, which is not a folder"):
        read_model_folder(tmp_path / "none")


def test_the_fingerprint_changes_with_all_that_changes_vectors(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "model")
    seen = {read_model_folder(folder).fingerprint}
    seen.add(read_model_folder(folder, pooling="cls").fingerprint)
    seen.add(read_model_folder(folder, query_prefix="q: ").fingerprint)
    seen.add(read_model_folder(folder, passage_prefix="q: ").fingerprint)
    (folder / "model.onnx").write_bytes(b"Weights")
    seen.add(read_model_folder(folder).fingerprint)
    (folder / "tokenizer.json").write_text("{} ")
    seen.add(read_model_folder(folder).fingerprint)

    assert len(seen) == 6


def test_the_fingerprint_does_not_depend_on_the_place(tmp_path: Path) -> None:
    one, other = a_folder(tmp_path / "one"), a_folder(tmp_path / "other")

    assert read_model_folder(one).fingerprint == read_model_folder(other).fingerprint
