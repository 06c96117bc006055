"""Questions made of Chinese, Japanese and Korean headings; see ``question_wordings``."""

from __future__ import annotations

import re

from bot.research.suggestions.wordings import LONGEST, is_plain
from bot.text.lazy_regex import lazy_regex

_FEWEST = 4  # characters of a heading that can be asked about

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
    (lazy_regex(r"(?:如何|怎样|怎樣|怎么|怎麼)(.+)"), "如何{0}？"),
    (lazy_regex(r"(什么是.+|什麼是.+|为什么.+|為什麼.+|何时.+|何時.+|.+是什么|.+是什麼)"), "{0}？"),
    (lazy_regex(r"(.+?)[与和跟](.+?)(?:之间)?的(?:区别|差异|不同)"), "{0}和{1}有什么区别？"),
    (lazy_regex(r"(.+?)[與和跟](.+?)(?:之間)?的(?:區別|差異|不同)"), "{0}和{1}有什麼區別？"),
    (lazy_regex(rf"((?:{_CHINESE_VERBS})(?!.*(?:{_CHINESE_NOUN_ENDS})$)[^的]+)"), "如何{0}？"),
    (lazy_regex(r"(.+(?:する|の)方法)"), "{0}は？"),
    (lazy_regex(r"(.+)とは"), "{0}とは何ですか？"),
    (lazy_regex(r"(.+)と(.+)の違い"), "{0}と{1}の違いは何ですか？"),
    (lazy_regex(r"(.+(?:하는|의) 방법)"), "{0}은 무엇인가요?"),
    (lazy_regex(r"(.+[와과] .+)의 차이(?:점)?"), "{0}의 차이는 무엇인가요?"),
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
