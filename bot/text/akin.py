"""Synonyms between questions and documents: "throw out" in a question finds "delete".

Groups of words that replace each other in questions about manuals, wikis and handbooks. They are
few and general on purpose: special terms have no synonyms, and a group that is too wide matches
everything. A word may be in several groups; synonymy is not transitive across groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache

from bot.text.listed import listed
from bot.text.terms import keywords

AKIN = 0.6
"""Share of a word's weight that its synonyms count for."""

_ENDINGS = {
    **dict.fromkeys(("ion", "ation", "ition", "ication", "ment", "ement"), 4),
    **dict.fromkeys(("al", "er", "or", "abl", "ibl", "iv", "ag", "anc", "enc", "li", "iti"), 5),
}
"""Derivational endings, as spelled in terms (without a silent e, with i for y), and the fewest
letters that must remain: "port" is not the stem of "portal".
"""

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
    "store storage",
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
    "big large huge bigger larger",
    "small tiny little smaller",
    "allowed permitted valid legal acceptable",
    "wrong incorrect invalid bad broken",
    "right correct valid proper",
    "need require want necessary needed",
    "use apply employ usage",
    "turn switch toggle enable disable activate deactivate",
    "off disable disabled deactivate",
    "automatically automatic auto",
    "manually manual hand",
    "guess detect infer deduce",
    "notice detect recognize",
    "tell specify indicate inform say",
    "force enforce require",
    "avoid prevent",
    "undo revert rollback reset restore",
    "restore recover reset",
    "lost lose missing loss",
    "see show view visible display",
    "read load parse open",
    "open access",
    "close shut end",
    "connect connection attach",
    "disconnect drop close",
    "listen bind port",
    "share common shared",
    "private internal hidden local",
    "public exported visible global",
    "everywhere global all",
    "count number amount quantity",
    "many number count several multiple",
    "often frequency interval rate",
    "long duration length time period",
    "soon hours days interval",
    "expire expiration lifetime timeout valid",
    "old previous former earlier older",
    "next following subsequent",
    "first initial beginning start",
    "end last final finish trailing",
    "begin beginning leading prefix",
    "suffix ending extension trailing",
    "extension plugin module addon",
    "package module library",
    "install setup installation deploy",
    "compile build",
    "upload publish release push",
    "download fetch get retrieve",
    "spread distribute balance",
    "spare backup standby redundant",
    "backup dump archive",
    "compress zip pack gzip archive",
    "unpack extract unzip uncompress decompress",
    "encrypt encryption cipher tls ssl",
    "safe secure security",
    "protect guard prevent secure",
    "trust verify certificate",
    "owner ownership belong owned",
    "rights permission privilege access mode",
    "group role team",
    "rename name move",
    "move relocate migrate transfer shift",
    "place location position path where",
    "near next beside adjacent",
    "above top over upper",
    "below bottom under lower",
    "compare equal same equality",
    "equal same identical",
    "unlike differ different difference distinct",
    "unique distinct once",
    "double duplicate twice repeated",
    "twice repeated duplicate again",
    "round rounding truncate",
    "cut truncate trim shorten strip",
    "strip trim remove",
    "shorten abbreviate truncate",
    "fill pad padding populate",
    "wrap fold break",
    "lower lowercase",
    "upper uppercase capital",
    "text string characters",
    "word term string",
    "sentence line text",
    "line row",
    "list array sequence vector",
    "table matrix grid",
    "value content data",
    "key name identifier id",
    "field column attribute property",
    "item element entry member",
    "entry record row",
    "part section portion piece fragment",
    "kind type sort category",
    "way method approach manner how",
    "rule policy regulation condition",
    "reason cause why because",
    "cause trigger raise lead",
    "throw raise exception",
    "exception error",
    "warn warning notice",
    "message notification text",
    "mail email message",
    "log record journal logging",
    "trace debug trace tracing",
    "watch monitor observe track",
    "measure metric statistics count",
    "report summary statistics",
    "calculate compute evaluate",
    "run execute invoke call perform",
    "call invoke execute",
    "background daemon asynchronous parallel",
    "parallel concurrent concurrently simultaneous simultaneously",
    "once single one simultaneously",
    "alone single only standalone",
    "only exclusively just",
    "half middle halfway",
    "instead alternative replace rather",
    "alternative option instead fallback",
    "fallback default otherwise",
    "unknown undefined unrecognized",
    "known defined recognized",
    "exist present defined available",
    "available exist supported",
    "support supported handle",
    "obsolete deprecated outdated old",
    "outdated stale obsolete old expired",
    "fresh new clean",
    "cached cache stored",
    "memory ram cache",
    "disk drive storage volume partition",
    "stick usb flash removable",
    "screen display terminal console monitor",
    "keyboard key layout",
    "shell terminal prompt command",
    "window pane frame",
    "colour color",
    "behaviour behavior act",
    "customise customize adapt",
    "organisation organization",
    "centre center",
    "header heading head title",
    "title heading name caption",
    "footer bottom",
    "homepage index root",
    "root top superuser administrator",
    "admin administrator superuser",
    "browser client",
    "visitor client user guest",
    "request query call",
    "reply respond response answer return",
    "return give yield output result",
    "result outcome output",
    "input stdin argument",
    "argument parameter option",
    "variable setting value",
    "environment variable env",
    "loop iterate iteration repeat cycle",
    "through iterate each traverse",
    "condition criterion predicate when",
    "depend require dependency rely",
    "belong part member",
    "translate translation language localization",
    "language locale translation",
    "date day time timestamp",
    "midnight day date",
    "yearly annual year",
    "monthly month",
    "weekly week",
    "daily day",
    "employee worker staff",
    "meeting appointment session",
    "invoice bill receipt",
    "travel trip journey business",
    "contract agreement",
    "customer client",
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


def shares(wanted: Iterable[str], words: Collection[str]) -> dict[str, float]:
    """Weights of the wanted terms that a text contains: 1, or ``AKIN`` if it only has a synonym."""
    return {
        term: 1.0 if term in words else AKIN
        for term in wanted
        if term in words or not akin(term).isdisjoint(words)
    }


@lru_cache(maxsize=50_000)
def akin(term: str) -> frozenset[str]:
    """The terms (see ``bot.text.terms``) of a term's synonyms and word family ("configuration" for
    "configure"), without the term itself."""
    return (_by_term().get(term, frozenset()) | family(term)) - {term}


def family(term: str) -> frozenset[str]:
    """The term with other derivational endings; not all results are words."""
    if not term.isascii() or not term.isalpha():
        return frozenset()
    bases = {term}
    if term.endswith(("e", "i")):  # "store", and "notifi" for "notify"
        bases.add(term[:-1])
    for ending, least in _ENDINGS.items():
        if term.endswith(ending) and len(term) - len(ending) >= least:
            bases.add(term.removesuffix(ending))
    found = {
        f"{base}{ending}"
        for base in bases
        for ending, least in _ENDINGS.items()
        if len(base) >= least
    }
    return frozenset(found | bases | {f"{base}e" for base in bases if base != term})


@cache
def _by_term() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _GROUPS:
        # each word on its own: next to others, "without" and "again" would be stop words
        terms = {term for word in listed(group) for term in keywords(word)}
        for term in terms:
            found.setdefault(term, set()).update(terms - {term})
    return {term: frozenset(others) for term, others in found.items()}
