"""Questions made of Chinese, Japanese and Korean headings."""

from __future__ import annotations

import pytest

from bot.research.suggestions.articles import in_eastern
from bot.research.suggestions.wordings import cleaned


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("3.2. 如何迁移", "如何迁移？"),
        ("怎样关闭系统", "如何关闭系统？"),
        ("什么是 Debian", "什么是 Debian？"),
        ("RAID 还是 LVM？", "RAID 还是 LVM？"),
        ("使用 dpkg 命令进行救援", "如何使用 dpkg 命令进行救援？"),
        ("第 3 章 修改源代码", "如何修改源代码？"),
        ("TCP 与 UDP 的区别", "TCP 和 UDP 有什么区别？"),
        ("TCP 與 UDP 的區別", "TCP 和 UDP 有什麼區別？"),
        ("プラグインをインストールする方法", "プラグインをインストールする方法は？"),
        ("コンテナとは", "コンテナとは何ですか？"),
        ("플러그인을 설치하는 방법", "플러그인을 설치하는 방법은 무엇인가요?"),
    ],
)
def test_a_heading_of_a_safe_pattern_becomes_a_question(heading: str, question: str) -> None:
    spaced = in_eastern(cleaned(heading)).replace(" ", "")
    assert spaced == question.replace(" ", "")


@pytest.mark.parametrize(
    "heading",
    [
        "", "概述", "安装程序", "配置文件", "使用手册", "第 5 章 网络设置", "版本 2.1", "参见",
        "其他文件", "这是什么？", "如果要记录于补丁中，这样做", "インストール", "概要", "설치",
    ],
)  # fmt: skip
def test_all_else_becomes_none(heading: str) -> None:
    assert in_eastern(cleaned(heading)) == ""
