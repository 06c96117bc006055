"""Questions about the subjects of encyclopedia articles: who or what they are, and their history.

An article is a page that opens with a definition of its title ("The **Bubye River** is a river in
Zimbabwe"). Only English articles and, for sections, Chinese ones are recognized.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.reasoning.evidence import Source
from bot.research.suggestions.wordings import LONGEST, is_plain
from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed

_QUALIFIER = re.compile(r"(?:(?<!\s)\s++)?[(（][^()（）]*[)）]$")  # "Mercury (planet)"
_SITE = re.compile(r"(?<!\s)\s++[-–—|]\s++(?:[\w ]*Wikipedia.*|维基百科.*|維基百科.*)$")
_MARKS = re.compile(r"\*\*|__")
_IN_BRACKETS = re.compile(r"\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|（[^（）]*）)")
_LIFE = re.compile(
    r"\bborn\b|\b\d{3,4}\s*[–-]\s*(?:c\. )?(?:\d{1,2} \w+ |\w+ \d{1,2}, )?\d{3,4}\b",
    re.IGNORECASE,
)
_IS = re.compile(r",? (is|was|are|were) (?:an?|the|one of)\b(.{0,90})")

_AFTER_KIND = re.compile(r",|\b(?:of|from|for|in|at|by|who|that|which|known|born)\b")
_ROLES = listed("""
    actor actress architect artist astronaut astronomer author biologist bishop businessman
    businesswoman chemist coach composer cricketer critic dancer director economist emperor
    engineer entrepreneur explorer footballer general historian inventor journalist judge king
    lawyer mathematician minister missionary model monarch musician novelist officer painter
    philosopher photographer physician physicist playwright player poet politician pope
    president priest producer professor psychologist queen rapper scholar scientist sculptor
    singer soldier songwriter statesman swimmer theologian writer
""")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of an article, with its name as used in a sentence ("the Bubye River")."""

    name: str
    verb: str  # is, was, are or were
    is_person: bool

    @property
    def question(self) -> str:
        """Return the question who or what it is."""
        return f"{'Who' if self.is_person else 'What'} {self.verb} {self.name}?"


def bare_title(title: str) -> str:
    """Return an article's title without its site's name and disambiguation."""
    return _QUALIFIER.sub("", _SITE.sub("", title.strip()))


def opening_of(source: Source) -> str:
    """Return the first passage read of a page, or ""."""
    return min(source.passages, key=lambda each: each.start).text if source.passages else ""


def subject_of(title: str, opening: str) -> Subject | None:
    """Return the subject of a page whose opening defines its title; None for other pages.

    None also if a person cannot be distinguished from a thing: dates of life without an occupation.
    """
    title = bare_title(title)
    opening = _MARKS.sub("", opening).lstrip("# ")
    if opening.startswith(title + "\n"):
        opening = opening.removeprefix(title).lstrip()
    article = "The " if opening.startswith(f"The {title}") and not title.startswith("The ") else ""
    if not title or not opening.startswith(article + title):
        return None
    rest = opening[len(article + title) :][:600]
    brackets = _IN_BRACKETS.match(rest)
    found = _IS.match(rest[brackets.end() :] if brackets else rest)
    if found is None:
        return None
    kind = _AFTER_KIND.split(found[2].lower(), maxsplit=1)[0]
    has_role = not _ROLES.isdisjoint(re.findall(r"[a-z]+", kind))
    has_life = brackets is not None and _LIFE.search(brackets[0]) is not None
    if has_life and not has_role:
        return None
    is_person = has_role and not article
    return Subject(article.lower() + title, found[1], is_person)


# ---------------------------------------------------------------- sections

_SECTIONS = {
    "history": "What is the history of {}?",
    "etymology": "Where does the name “{}” come from?",
    "name": "Where does the name “{}” come from?",
    "climate": "What is the climate of {} like?",
    "economy": "What is the economy of {} based on?",
    "demographics": "Who lives in {}?",
    "legacy": "What is the legacy of {}?",
    "reception": "How was {} received?",
    "critical reception": "How did critics receive {}?",
    "plot": "What happens in {}?",
    "symptoms": "What are the symptoms of {}?",
    "signs and symptoms": "What are the signs and symptoms of {}?",
    "causes": "What causes {}?",
    "diagnosis": "How is {} diagnosed?",
    "treatment": "How is {} treated?",
    "prevention": "How can {} be prevented?",
    "applications": "What is {} used for?",
    "uses": "What is {} used for?",
}
_OF_PERSONS = {
    "early life": "What was the early life of {} like?",
    "early years": "What was the early life of {} like?",
    "education": "Where was {} educated?",
    "death": "How did {} die?",
    "legacy": "What is the legacy of {}?",
    "awards": "Which awards did {} receive?",
    "personal life": "What is known about the personal life of {}?",
}
_CHINESE = {
    "历史": "{}的历史是怎样的？",
    "歷史": "{}的歷史是怎樣的？",
    "名称": "{}这个名字是怎么来的？",
    "名稱": "{}這個名字是怎麼來的？",
    "词源": "{}这个名字是怎么来的？",
    "詞源": "{}這個名字是怎麼來的？",
    "生平": "{}的生平是怎样的？",
    "气候": "{}的气候怎么样？",
    "氣候": "{}的氣候怎麼樣？",
    "症状": "{}有哪些症状？",
    "症狀": "{}有哪些症狀？",
    "用途": "{}有什么用途？",
}


def about_section(subject: Subject, heading: str) -> str:
    """Return the question that a section of an English article answers, or ""."""
    known = _OF_PERSONS if subject.is_person else _SECTIONS
    wording = known.get(heading.casefold(), "")
    question = wording.format(subject.name)
    return question if len(question) <= LONGEST else ""


def about_chinese_section(title: str, opening: str, heading: str) -> str:
    """Return the question that a section of a Chinese article answers, or ""."""
    title = bare_title(title)
    if len(title) < 2 or not _MARKS.sub("", opening).startswith(title):
        return ""
    return _CHINESE.get(heading, "").format(title)


_FEWEST = 4  # characters of a heading used for a question

_CHINESE_VERBS = (
    "安装|安裝|配置|设置|設定|创建|建立|使用|升级|升級|删除|刪除|查找|编辑|編輯|管理|构建|启动|停止|修改|添加|"
    "检查|选择|修复|限制|禁用|启用|恢复|备份|卸载|下载|上传|连接|编写|运行|调试|生成|转换|复制|识别|查看|校验|更改|"
    "清除|监控|识别|重建|打包|测试|自定义"
)
_CHINESE_NOUN_ENDS = (
    "程序|文件|手册|日志|过程|步骤|方法|指南|工具|选项|系统|脚本|命令|环境|界面|权限|信息|参数|流程|介质|格式|语言|"
    "策略|示例|实例|技巧|概述|简介|说明|目录|器|员|者|项|表|区|集|层|性|中|时|后|前|的"
)
_EASTERN = (
    (lazy_regex(r"(?:如何|怎样|怎樣|怎么|怎麼)(.{1,24})"), "如何{0}？"),
    (
        lazy_regex(
            r"(什么是.{1,24}|什麼是.{1,24}|为什么.{1,24}|為什麼.{1,24}|何时.{1,24}|何時.{1,24}|.{1,24}是什么|.{1,24}是什麼)"
        ),
        "{0}？",
    ),
    (
        lazy_regex(r"(.{1,24}?)[与和跟](.{1,24}?)(?:之间)?的(?:区别|差异|不同)"),
        "{0}和{1}有什么区别？",
    ),
    (
        lazy_regex(r"(.{1,24}?)[與和跟](.{1,24}?)(?:之間)?的(?:區別|差異|不同)"),
        "{0}和{1}有什麼區別？",
    ),
    (
        lazy_regex(rf"((?:{_CHINESE_VERBS})(?!.{{0,24}}(?:{_CHINESE_NOUN_ENDS})$)[^的]{{1,24}})"),
        "如何{0}？",
    ),
    (lazy_regex(r"(.{1,24}(?:する|の)方法)"), "{0}は？"),
    (lazy_regex(r"(.{1,24})とは"), "{0}とは何ですか？"),
    (lazy_regex(r"(.{1,24})と(.{1,24})の違い"), "{0}と{1}の違いは何ですか？"),
    (lazy_regex(r"(.{1,24}(?:하는|의) 방법)"), "{0}은 무엇인가요?"),
    (lazy_regex(r"(.{1,24}[와과] .{1,24})의 차이(?:점)?"), "{0}의 차이는 무엇인가요?"),
)


def in_eastern(heading: str) -> str:
    """The question that a Chinese, Japanese or Korean heading (see ``cleaned``) answers, or ""."""
    if len(heading) < _FEWEST or len(heading) > LONGEST // 2 or not heading.isprintable():
        return ""
    if not is_plain(heading.rstrip("?？")) or re.search(r"[，、,:：（(]", heading):
        return ""
    if heading[-1] in "?？":
        return heading
    for pattern, wording in _EASTERN:
        if found := pattern.fullmatch(heading):
            return wording.format(*(part.strip() for part in found.groups()))
    return ""
