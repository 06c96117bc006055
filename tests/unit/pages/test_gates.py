"""Walls, checks and error pages are told from pages, whatever status they come with."""

from __future__ import annotations

import pytest

from bot.core.errors import PageUnreadable
from bot.pages import extract
from bot.pages.gates import refuse_gate
from bot.pages.markup import read_html
from tests.bench import extraction

LONG = "The lighthouse was lit for the first time in 1874, and it stands to this day. " * 12


@pytest.mark.parametrize(
    ("title", "text", "sentence"),
    [
        ("Just a moment...", "a.example\n\nVerifying you are human. This may take a few seconds.",
         "only browsers"),
        ("a.example", "Checking if the site connection is secure", "only browsers"),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked.", "only browsers"),
        ("", "Our systems have detected unusual traffic from your computer network.",
         "only browsers"),
        ("安全验证", "请完成下方验证后继续访问。", "only browsers"),
        ("React App", "You need to enable JavaScript to run this app.", "by JavaScript"),
        ("App", "This site requires JavaScript.", "by JavaScript"),
        ("网站", "请启用 JavaScript 后继续。", "by JavaScript"),
        ("Log in - Corp Wiki", "Use your company account.", "login form"),
        ("Sign in to continue to Gmail", "Email or phone. Forgot email?", "login form"),
        ("Corp", "# Sign in\n\nEmail address", "login form"),
        ("登录", "请输入手机号。", "login form"),
        ("404 Not Found", "nginx", "does not exist"),
        ("Page not found | Coast Journal", "Try the search, or go to the front page.",
         "does not exist"),
        ("Coast Journal", "# Sorry, this page does not exist\n\nGo home.", "does not exist"),
        ("Coast Journal", "# The page you are looking for could not be found\n\nGo home.",
         "does not exist"),
        ("Oops! That page can’t be found.", "It looks like nothing was here.", "does not exist"),
        ("Seite nicht gefunden", "Zur Startseite", "does not exist"),
        ("页面不存在", "返回首页", "does not exist"),
        ("ページが見つかりません", "トップへ", "does not exist"),
        ("a.example", "This domain is for sale. Buy it now.", "for sale"),
        ("The harbour - Coast Journal",
         "The harbour will be closed from May. Subscribe to continue reading.",
         "only a preview"),
        ("Der Hafen", "Der Hafen schließt im Mai. Nur für Abonnenten.", "only a preview"),
        ("港口", "港口将于五月关闭。订阅后阅读全文", "only a preview"),
        ("Before you continue to Search", "We use cookies to deliver services.", "about cookies"),
        ("a.example", "我们使用Cookie。接受Cookie？Cookie政策。", "about cookies"),
        ("a.example",
         "We and our 842 partners store cookies on your device.\n\n"
         "With your consent we use cookies for ads, and our partners use cookies too.\n\n"
         "You can manage preferences of vendors in our privacy settings.\n\nAccept all cookies",
         "about cookies"),
        ("Der Hafen im Winter | Küstenblatt",
         "Wir und unsere 180 Partner verwenden Cookies und ähnliche Techniken.\n\n"
         "Ihre Einwilligung gilt für personalisierte Werbung. Sie können sie jederzeit in der "
         "Datenschutzerklärung widerrufen.\n\nAlle akzeptieren\n\nAlle ablehnen\n\nEinstellungen",
         "about cookies"),
        ("Le port en hiver - Journal",
         "Nos partenaires et nous déposons des cookies sur votre appareil. Votre consentement "
         "permet des publicités personnalisées.\n\nContinuer sans accepter\n\nTout refuser\n\n"
         "Tout accepter\n\nPolitique de confidentialité",
         "about cookies"),
        ("El puerto en invierno",
         "Nosotros y nuestros socios utilizamos cookies para mostrar publicidad personalizada. "
         "Puede cambiar sus preferencias en la política de privacidad.\n\n"
         "Aceptar todo\n\nRechazar todo\n\nConfigurar cookies",
         "about cookies"),
        ("The harbour in winter - Coast Journal",
         "We use cookies to improve your experience. By clicking Accept you consent to our use "
         "of cookies.\n\nAccept all\n\nReject all",
         "about cookies"),
    ],
)  # fmt: skip
def test_walls_are_unreadable(title: str, text: str, sentence: str) -> None:
    with pytest.raises(PageUnreadable, match=f"^the page .*{sentence}.*[;] .+\\.$"):
        refuse_gate("the page", title, text)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Opening hours", "We are open from 9 to 5."),
        ("Cookie", "A cookie is a small cake. Cookies are baked at 180 °C."),
        ("Cookies in HTTP", "A cookie is a small piece of data that a server sends to a browser."),
        ("Cookie law", "Consent to cookies must be freely given. The directive of 2009 says so. "
         "Sites that set cookies without consent were fined in France. Partners share the duty."),
        ("Set-Cookie", "The attribute SameSite restricts a cookie to its site. Browsers reject a "
         "cookie without Secure. A cookie expires with its session."),
        ("Plätzchen", "Cookies akzeptieren auch die Kinder. Der Teig ruht eine Stunde."),
        ("HTTP 404", "404 is the status code for what a server cannot find."),
        ("What a 404 error means", "The server did not find what was asked for."),
        ("Release 4.04", "Fixes a crash."),
        ("The lost page", "A page of the manuscript was found in 1874."),
        ("Not Found (band)", "Not Found are a band from Kiel."),
        ("JavaScript", "JavaScript is a programming language. It is required by most of the web."),
        ("How to log in", "Open the settings, press Log in and enter your name."),
        ("Login", "Use `ssh login.corp.example`. " + LONG),
        ("Captcha", "A captcha is a test that tells people from machines."),
        ("Subscribe", "To subscribe to the list, send a mail with the word subscribe."),
        ("Members", "The club has 42 members and 3 subscribers."),
        ("Just a moment", LONG),
        ("Access denied", LONG + "Access denied is shown where rights are missing."),
        ("Domains", "The domain of a function is where it is defined."),
        ("Robots", "Asimov's robots obey three laws."),
        ("登录日志", "登录日志记录了所有登录。"),
        ("会员", "本会现有会员四十二人。"),
        ("访问统计", "本页面不存在广告。"),
    ],
)  # fmt: skip
def test_short_pages_and_long_ones_are_pages(title: str, text: str) -> None:
    refuse_gate("the page", title, text)


def test_the_markup_of_a_page_tells_too() -> None:
    form = "<h1>Welcome</h1><form><input name=user><input type='password'></form><p>Hello.</p>"
    with pytest.raises(PageUnreadable, match="login form"):
        read_html(form, "x")
    data = '<script type="application/ld+json">{"isAccessibleForFree": "False"}</script>'
    with pytest.raises(PageUnreadable, match="preview"):
        read_html(f"<html><head>{data}</head><p>The harbour will be closed from May.</p>", "x")
    article = f"<html><head>{data}</head><body><article><p>{LONG}</p></article></body></html>"
    assert read_html(article, "x").text
    assert read_html(form.replace("Hello.", LONG), "x").text


@pytest.mark.shared
def test_real_articles_are_pages() -> None:
    """On every fifteenth page of the benchmark; ``tests.bench.extraction`` counts them all."""
    refused = 0
    for html in extraction.pages(every=15):
        try:
            extract.from_bytes(html, "text/html", "x")
        except PageUnreadable:
            refused += 1
    assert refused == 0
