"""Detects walls, checks and error pages that servers send instead of the requested page.

Servers send them with a success status, and an answer must not rest on one. Only a short text is
taken for a wall, so that an article about cookies, logins or error 404 remains an article.
"""

from __future__ import annotations

import re

from bot.core.errors import BrowserNeeded, PageUnreadable
from bot.core.texts import said
from bot.text.patterns import lazy_regex
from bot.text.terms import estimate

GATE = 150
"""Tokens (about 600 Latin or 150 Chinese characters); a page up to this length may be only a wall.
"""
CONSENT = 500  # tokens; up to this length, a page that is mostly about consent is a consent prompt
MOSTLY = 0.6  # of its sentences and lines
PREVIEW = 100  # tokens; a paid page up to this length has no preview worth quoting


def refuse_gate(
    name: str, title: str, text: str, *, asks_password: bool = False, is_paid: bool = False
) -> None:
    """Raise ``PageUnreadable`` with advice if a page is only a wall; ``name`` is used in messages.

    It is ``BrowserNeeded`` if a browser might get further. ``is_paid``: the page's own metadata
    declares it not free (schema.org's ``isAccessibleForFree``).
    """
    length = estimate(text)
    lines = (title, text.partition("\n")[0].lstrip("# "))
    if length <= GATE:
        if asks_password or any(_LOGIN.fullmatch(line) for line in lines):
            raise PageUnreadable(said("gate-login", name=name))
        if any(_BOT_CHECK.search(part) for part in (title, text)):
            raise BrowserNeeded(said("gate-check", name=name))
        if any(_NEEDS_SCRIPT.search(part) for part in (title, text)) or _LOADING.fullmatch(text):
            raise BrowserNeeded(said("gate-script", name=name))
        if any(_MISSING.search(line) for line in lines):
            raise PageUnreadable(said("gate-missing", name=name))
        if any(_FOR_SALE.search(part) for part in (title, text)):
            raise PageUnreadable(said("gate-sale", name=name))
    if length <= PREVIEW and (is_paid or _PAYWALL.search(text)):
        raise PageUnreadable(said("gate-preview", name=name))
    if length <= CONSENT and _asks_consent(title, text):
        raise BrowserNeeded(said("gate-cookies", name=name))


def _asks_consent(title: str, text: str) -> bool:
    if _CONSENT_TITLE.search(title) and _COOKIES.search(text):
        return True
    parts = [part for part in _PARTS.split(f"{title}\n{text}") if part.strip()]
    about = sum(_CONSENT.search(part) is not None for part in parts)
    # A page that explains consent does not ask for it with several of the words of its buttons.
    return (
        about >= 2
        and about >= MOSTLY * len(parts)
        and len({found.lower() for found in _ASKS.findall(text)}) >= 2
    )


_IGNORING_CASE = re.IGNORECASE | re.VERBOSE

_BOT_CHECK = lazy_regex(
    r"""^just\ a\ moment | ^attention\ required | ^access\ denied | ^pardon\ our\ interruption
    | verif(?:y(?:ing)?|ies)\ (?:that\ )?(?:you(?:'|’|\ a)re\ )?(?:if\ you\ are\ )?(?:a\ )?human
    | are\ you\ (?:a\ )?(?:robot|human)\b | (?:i'?m|you\ are)\ not\ a\ (?:ro)?bot
    | checking\ (?:your\ browser|if\ the\ site\ connection\ is\ secure)
    | needs\ to\ review\ the\ security\ of\ your\ connection
    | unusual\ (?:traffic|activity)\ from\ your | (?:complete|solve)\ the\ captcha
    | detected\ unusual\ traffic | press\ (?:&|and)\ hold | ddos\ protection\ by
    | (?:您|你)是(?:否是)?(?:人类|真人|机器人) | 安全验证 | 安全驗證 | ロボットではありません
    """,
    _IGNORING_CASE,
)
_NEEDS_SCRIPT = lazy_regex(
    r"""(?:enable|turn\ on|activate|allow)\ javascript
    | javascript\ (?:is|must\ be|needs\ to\ be|has\ been|seems\ to\ be)\ (?:disabled|required
        |enabled|turned)
    | (?:requires|needs)\ javascript | without\ javascript\ enabled
    | aktivieren\ sie\ (?:bitte\ )?javascript | activer\ javascript
    | (?:habilit|activ)[ae]\ javascript
    | (?:启用|開啟|启动|啟用|开启)\s?javascript | javascript\s?を有効
    """,
    _IGNORING_CASE,
)
_LOADING = lazy_regex(
    r"""(?:\#\ *)?(?:(?:now\ |is\ )?loading(?:\ (?:the\ )?(?:page|content|app|data))?|please\ wait
        |one\ moment(?:,?\ please)? | wird\ geladen | chargement(?:\ en\ cours)? | cargando
        |(?:正在)?(?:加载|載入|加載|载入)中? | 読み込み中(?:です)? | 로딩\ ?중)\s*+[.…。!]*+\s*+""",
    _IGNORING_CASE,
)
_LOGIN = lazy_regex(
    r"""(?:(?:please\ )?(?:log|sign)[ -]?(?:in|on)(?:\ (?:or|/)\ (?:sign\ up|register))?
        (?:\ (?:to|with|at|into)\ [^.]{1,60})?
    | you\ (?:must|need\ to)\ (?:log|sign)\ in[^.]{0,60} | log(?:in|on)(?:\ required)?
    | anmelden | anmeldung | connexion | se\ connecter | iniciar\ sesión | accedi
    | 登录 | 登錄 | 登入 | 请登录[^。]{0,20} | ログイン | 로그인)
    \s*(?:[-|–—·:•»].{0,60})?[.!]?""",
    _IGNORING_CASE,
)
_MISSING = lazy_regex(
    r"""^(?:error\s?:?\s?)?404
        (?:\s?[-|–—:]?\s?(?:not\ found|error|page|file)\b.{0,60}|[\s!.]*$)
    | (?:^|[-|–—:]\s)(?:oops[!.,…]*\s)?(?:the\ |this\ |that\ |sorry,?\ |your\ )*
      (?:requested\ )?(?:page|file|url|article|document|site|content)
      (?:\ (?:you\ (?:requested|are\ looking\ for|were\ looking\ for|tried\ to\ reach)))?
      \ (?:(?:was|is|could|can|does|has)\ ?)?(?:not|n?['’]t|no\ longer|been)\s
      (?:be\ )?(?:found|exist|available|removed|deleted|here)s?\b
    | ^not\ found\s*(?:[-|–—:].*)?$ | (?:page|file)\ not\ found
    | seite\ (?:wurde\ )?nicht\ gefunden | page\ (?:introuvable|non\ trouvée)
    | página\ no\ encontrada | página\ não\ encontrada | pagina\ non\ trovata
    | страница\ не\ найдена | (?:页面|頁面|网页|網頁)(?:不存在|未找到|无法找到|找不到)(?=\W|$)
    | (?:找不到|未找到)(?:该|您|此|這個|这个)?.{0,8}(?:页面|頁面|网页|網頁)
    | ページ(?:が|は)見つかりません | 페이지를\ 찾을\ 수\ 없
    """,
    _IGNORING_CASE,
)
_FOR_SALE = lazy_regex(
    r"(?:this|the) domain(?: name)? (?:\S+ )?(?:is|may be) (?:for sale|parked)|buy this domain",
    re.IGNORECASE,
)
_PAYWALL = lazy_regex(
    r"""(?:subscribe|sign\ up|register|log\ in|sign\ in)\ (?:now\ )?to
        \ (?:(?:continue|keep)\ reading|read\ (?:the\ )?(?:full|rest|more|this)|unlock
            |(?:access|view)\ (?:the\ full|full|this))
    | (?:continue|keep)\ reading\ with\ a\ (?:free\ )?(?:trial|subscription|account)
    | (?:article|content|story|page)\ is\ (?:only\ )?(?:(?:available|reserved)\ )?(?:only\ )?
        (?:for|to)\ (?:(?:our|paying|premium)\ )?(?:subscribers|members)
    | (?:for|exclusive\ to)\ subscribers\ only | already\ (?:a\ subscriber|have\ an\ account)\?
    | (?:reached|used)\ (?:your|the)\ (?:monthly\ )?limit\ of\ (?:\w+\ )?(?:free\ )?articles
    | (?:reserved|réservé)\ aux\ abonnés | nur\ für\ abonnenten | mit\ (?:einem\ )?abo\ weiterlesen
    | sólo\ para\ suscriptores
    | (?:会员|會員|付费|付費|订阅|訂閱)[后後]?(?:即可)?(?:专享|專享|(?:阅读|閱讀|解锁|解鎖)全文)
    | 有料会員限定 | 会員限定
    """,
    _IGNORING_CASE,
)
_COOKIES = lazy_regex(r"(?<![a-z])cookies?(?![a-z])", re.IGNORECASE)
_PARTS = lazy_regex(r"[.!?](?=\s)|[。！？\n]")
_ASKS = lazy_regex(
    r"\b(?:accept|agree|allow|reject|decline|refuse|consent|manage|settings|preferences|policy"
    r"|akzept|zustimm|einwillig|ablehn|einstellung"
    r"|accord|continuer sans|refus|paramétr|acept|rechaz|configur|accett|rifiut)"
    r"|接受|同意|拒绝|拒絕|政策",
    re.IGNORECASE,
)
_CONSENT = lazy_regex(
    r"(?<![a-z])cookies?(?![a-z])|consent|\bpartners?\b|vendors?\b|privacy|personali[sz]"
    r"|legitimate interest|datenschutz|partnern|drittanbieter|einwillig|personalisier"
    r"|partenaires|vie privée|confidentialité|traceurs|privacidad|\bsocios|terceros"
    r"|(?:accept|reject|allow|decline) all|manage (?:options|settings|preferences)"
    r"|alle[sn]? (?:akzeptieren|ablehnen|zulassen)|zustimmen|tout (?:accepter|refuser)"
    r"|(?:aceptar|rechazar|permitir) tod",
    re.IGNORECASE,
)
_CONSENT_TITLE = lazy_regex(
    r"^before you continue|(?:cookie|privacy) (?:consent|settings|preferences|preference cent)"
    r"|^(?:we value|your) privacy",
    re.IGNORECASE,
)
