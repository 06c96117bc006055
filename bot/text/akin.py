"""Words that people ask with, and those that documents have instead: "throw out" and "delete".

Groups of words that stand for each other in questions to manuals, wikis and handbooks. They are
few and general on purpose: terms of a field have their own names, and a group too wide finds
everything. A word may be in several groups; being akin does not pass from one to the next.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import cache

from bot.text.listed import listed
from bot.text.terms import keywords

AKIN = 0.6
"""Share of a word's weight that one of its kind counts for."""

_GROUPS = (
    "delete remove erase drop clear purge discard throw rid unset clean wipe",
    "uninstall remove deinstall purge",
    "unpublish withdraw revoke took retract",
    "create make generate produce build",
    "change modify alter edit adjust customize override",
    "set configure specify define assign put",
    "setting option parameter directive variable property switch flag",
    "start launch begin boot startup",
    "restart reload relaunch reboot",
    "stop halt end terminate quit exit kill abort shutdown die",
    "fail break broke crash error failure die died dies",
    "problem error trouble issue failure",
    "show display print list output view see",
    "find search locate",
    "keep retain preserve kept leave left remain stay",
    "save store write record keep kept",
    "remember store save history",
    "copy duplicate clone",
    "send deliver transmit submit",
    "receive get obtain fetch retrieve",
    "allow permit enable accept",
    "deny forbid disallow prohibit block prevent reject refuse restrict",
    "throttle lock limit restrict",
    "skip ignore omit bypass exclude leave",
    "include add contain insert append",
    "maximum max limit largest highest upper large longest",
    "minimum min least smallest lowest",
    "size large big limit length",
    "directory folder directories",
    "picture image icon photo",
    "password passphrase secret",
    "login authentication authenticate sign logon",
    "user account people person",
    "fast faster performance speed quick quickly optimize",
    "wait delay pause timeout sleep",
    "retry repeat again rerun",
    "check verify validate test ensure confirm",
    "choose select pick",
    "update upgrade",
    "join combine merge concatenate",
    "split divide separate",
    "separate apart own different",
    "replace substitute swap",
    "hide suppress silence mute quiet",
    "character letter sign symbol",
    "asterisk star wildcard",
    "sort order",
    "latest newest recent last",
    "empty blank missing without null none",
    "mandatory required must",
    "default unless otherwise normally predefined",
    "machine computer host server",
    "program application executable binary command",
    "script program",
    "function method procedure",
    "link url address uri",
    "address location path",
    "website site page",
    "network connection internet",
    "question ask prompt query",
    "answer reply response",
    "mean meaning denote represent indicate stand",
    "happen occur",
    "temporary temp",
    "nested nesting inside within recursive recursively",
    "strict stricter strong stronger",
    "peace graceful gracefully finish",
    "version release",
    "licence license",
    "cost price fee",
    "holiday vacation leave",
    "salary pay wage remuneration",
    "boss manager supervisor",
    "quit resign resignation notice",
    "fire dismiss dismissal terminate",
    "buy purchase order procure",
    "refund reimburse reimbursement repay",
    "ill sick sickness illness",
    "删除 移除 清除 卸载 清理",
    "密码 口令",
    "目录 文件夹",
    "电脑 计算机 机器 主机",
    "修改 更改 改变 编辑 变更",
    "设置 配置 设定",
    "显示 列出 查看",
    "保存 存储 储存",
    "启动 引导 开机",
    "重启 重新",
    "禁用 关闭 停用 关掉",
    "启用 打开 开启",
    "升级 更新",
    "错误 出错 失败 故障 问题",
    "用户 账户 帐户 账号",
    "复制 拷贝",
    "查找 搜索 寻找",
    "检查 检测 验证 校验",
    "最大 上限 限制",
    "最小 下限 最低",
    "默认 缺省",
    "表示 说明 含义 意思",
    "忽略 跳过",
    "残留 剩余 遗留",
)


def shares(wanted: Iterable[str], words: Container[str]) -> dict[str, float]:
    """Which of some terms are among a text's, or others in their place, and what each counts for:
    1, or ``AKIN``."""
    return {
        term: 1.0 if term in words else AKIN
        for term in wanted
        if term in words or any(other in words for other in akin(term))
    }


def akin(term: str) -> frozenset[str]:
    """The terms (see ``bot.text.terms``) of words that can stand for a term's; never itself."""
    return _by_term().get(term, frozenset())


@cache
def _by_term() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _GROUPS:
        # each alone: among others "without" and "again" would be stop words
        terms = {term for word in listed(group) for term in keywords(word)}
        for term in terms:
            found.setdefault(term, set()).update(terms - {term})
    return {term: frozenset(others) for term, others in found.items()}
