# Die Texte von Footnote auf Deutsch. Kennungen und Variablen wie in en.ftl; was fehlt, erscheint auf Englisch.

-brand = Footnote

## While it works

working = Recherche läuft …
queued =
    { $ahead ->
        [0] In der Warteschlange. Ihre Frage ist die nächste.
        [one] In der Warteschlange. Vor Ihrer Frage ist noch eine.
       *[other] In der Warteschlange. Vor Ihrer Frage sind noch { $ahead }.
    }
stopping = Wird gestoppt …
stopped = Gestoppt.
nothing-running = Hier läuft nichts, was sich stoppen ließe.
stopping-count =
    { $count ->
        [one] Die laufende Frage wird gestoppt …
       *[other] { $count } Fragen werden gestoppt …
    }
edited-question = Die Frage wurde bearbeitet und wird neu beantwortet …

## Steps of the plan

step-rewrite = Frage verstehen
step-search = Suche: { $title }
step-read = Lesen: { $title }
step-think = Nachdenken
step-plan = Recherche planen
step-draft = Entwurf schreiben
step-revise = Überarbeiten
step-write = Antwort schreiben
step-check = Fußnoten prüfen
step-other = { $title }
step-searches =
    { $count ->
        [one] 1 Suche
       *[other] { $count } Suchen
    }
step-pages =
    { $count ->
        [one] 1 Seite
       *[other] { $count } Seiten
    }
exhaustive-price =
    { $usd ->
        [-1] Bis zu { $searches } Suchen und { $minutes } Minuten, Preis unbekannt. Sie können jederzeit stoppen und erhalten, was gefunden wurde.
       *[other] Bis zu { $searches } Suchen, { $minutes } Minuten und etwa { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD. Sie können jederzeit stoppen und erhalten, was gefunden wurde.
    }
exhaustive-round =
    { $facts ->
        [one] Nach { $searches } von { $most } Suchen: 1 Angabe gefunden
       *[other] Nach { $searches } von { $most } Suchen: { $facts } Angaben gefunden
    }
elapsed = Seit { NUMBER($seconds, maximumFractionDigits: 0) } s
more-steps =
    { $count ->
        [one] und ein weiterer Schritt
       *[other] und { $count } weitere Schritte
    }

## Under the answer

sources-heading = Quellen
more-sources =
    { $count ->
        [one] und eine weitere Quelle
       *[other] und { $count } weitere Quellen
    }
preview-edited = Die Frage wurde inzwischen bearbeitet. Der Link führt zur neuen Antwort.
preview-sources =
    { $count ->
        [one] Eine Quelle
       *[other] { $count } Quellen
    }
text-given-by = Text von { $name }
answer-place-gone = Die Antwort auf „{ $question }“ kann ich dort nicht mehr posten: Der Kanal wurde archiviert, oder ich wurde daraus entfernt. Fragen Sie hier oder in einem anderen Kanal erneut.
answer-refused = Slack hat die Antwort auf „{ $question }“ nicht angenommen ({ $code }). Bitten Sie um eine kürzere, oder wenden Sie sich an eine Administratorin oder einen Administrator des Workspace.
unverified = ⚠ Nicht belegt: „{ $sentence }“ ({ $reason })
disagrees = ⚖ Quellen widersprechen sich: „{ $sentence }“, aber [{ $number }] sagt „{ $quote }“
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } s · { $searches ->
        [one] 1 Suche
       *[other] { $searches } Suchen
    } · { $pages ->
        [one] 1 Seite gelesen
       *[other] { $pages } Seiten gelesen
    }{ $cost ->
        [0] { "" }
       *[other] { " · " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }
summary = { $spent } · Lauf { $run }
details-button = Quellen und Weg zur Antwort
partly-answered = ◐ Teilweise beantwortet. Nicht gefunden: { $what }
doubts-counted =
    { $count ->
        [one] ⚠ Ein Satz ist nicht durch seine Quellen belegt
       *[other] ⚠ { $count } Sätze sind nicht durch ihre Quellen belegt
    }
disagreements-counted =
    { $count ->
        [one] ⚖ Bei einem Satz widersprechen sich die Quellen
       *[other] ⚖ Bei { $count } Sätzen widersprechen sich die Quellen
    }
notes-counted =
    { $count ->
        [one] ⓘ Ein Hinweis zur Recherche
       *[other] ⓘ { $count } Hinweise zur Recherche
    }
searched-for = Gesucht nach: { $queries }
follow-ups-heading = Mögliche nächste Fragen

## Buttons

stop-button = Stoppen
dig-deeper = Gründlicher suchen
feedback-good = Hilfreich
feedback-bad = Nicht hilfreich
feedback-thanks = Danke. Ihre Rückmeldung ist zu dieser Antwort gespeichert.
feedback-ask-why = Danke. Ihre Rückmeldung ist zu dieser Antwort gespeichert. Was ist falsch daran?
delete-answer = Diese Antwort löschen
delete-answer-ask = Die Antwort wird hier entfernt, und Ihre Frage und die Antwort werden aus dem Speicher gelöscht. Das lässt sich nicht rückgängig machen.
delete-answer-yes = Löschen
delete-answer-no = Abbrechen
delete-answer-not-yours = Nur wer gefragt hat, kann diese Antwort löschen.

## When something is in the way

no-question = Was möchten Sie wissen? Schreiben Sie Ihre Frage direkt hinter die Erwähnung, oder verwenden Sie /ask.
question-too-long = Ihre Frage hat { $length } Zeichen; ich kann höchstens { $most } lesen. Kürzen Sie sie, oder hängen Sie den langen Teil als Datei an.
files-question = Was steht in { $names }?
failed = Das konnte ich nicht abschließen: { $reason }
retry-button = Erneut versuchen
cannot-open-thread = Ich darf hier keinen Thread eröffnen und antworte deshalb im Kanal. Wer diesen Kanal verwaltet, kann mir die Berechtigung geben.
cannot-read-history = Ich kann frühere Nachrichten hier nicht lesen und weiß deshalb nur, was ich direkt gefragt wurde. Wer diesen Kanal verwaltet, kann mir die Berechtigung geben.
history-too-slow = Ich konnte frühere Nachrichten hier nicht rechtzeitig lesen und weiß deshalb nur, was ich direkt gefragt wurde. Später noch einmal zu fragen kann helfen.
asked-by = { $name } hat gefragt: { $question }
question-of = Frage von { $name }
only-for-command = Ich bin hier kein Mitglied und kann deshalb nur auf Ihren Befehl antworten, und das nur 15 Minuten lang. Wer diesen Server verwaltet, kann mich einladen.
answer-in-file = Die Antwort ist zu lang für eine Nachricht. Der vollständige Text steht in der Datei.
answer-comes-directly = Das dauert länger als die 15 Minuten, in denen ich hier bei Discord auf einen Befehl antworten darf. Sie erhalten die Antwort als Direktnachricht.
direct-closed = Das dauert länger als die 15 Minuten, in denen ich hier bei Discord auf einen Befehl antworten darf, und ich kann Ihnen keine Direktnachricht senden. Erlauben Sie Direktnachrichten, und fragen Sie erneut.
only-for-minutes = Ich bin dort, wo Sie gefragt haben, kein Mitglied und konnte bei Discord nur 15 Minuten lang auf Ihren Befehl antworten. Es hat länger gedauert, deshalb steht die Antwort hier.
only-so-many-messages = Ich bin dort, wo Sie gefragt haben, kein Mitglied und darf bei Discord auf einen Befehl nur wenige Nachrichten senden. Deshalb steht die Antwort hier.
cannot-post = Ich darf in diesem Kanal nicht schreiben. Wer ihn verwaltet, kann mich einladen oder mir die Berechtigung geben.
file-not-read = Die Datei { $name } konnte ich nicht lesen: { $reason }
file-gone = Die Datei { $name } konnte ich nicht lesen: Sie wurde gelöscht.
file-hidden = Die Datei { $name } konnte ich nicht lesen: Sie ist verborgen, weil der Workspace die Grenzen seines Tarifs überschreitet.
file-elsewhere = Die Datei { $name } konnte ich nicht lesen: Sie liegt bei einem anderen Dienst. Teilen Sie die Datei selbst.
file-not-shown = Die Datei { $name } konnte ich nicht lesen: Ich sehe sie hier nicht. Teilen Sie sie erneut, oder fügen Sie den Text ein.
file-is-canvas = { $name } konnte ich nicht lesen: Ein Canvas oder eine Liste hat keine Datei zum Herunterladen. Fügen Sie den Text ein, oder teilen Sie einen Export.
link-not-read = { $url } konnte ich nicht lesen: { $reason }
more-elsewhere = An Stellen, die nur Sie sehen können, habe ich mehr gefunden. Fragen Sie mich in einer Direktnachricht, dann durchsuche ich sie auch.
more-elsewhere-here = Zu Ihrer Frage in { $channel } habe ich mehr in Kanälen gefunden, die dort nicht alle lesen können. Fragen Sie mich hier, dann durchsuche ich sie auch.
documents-dated =
    { $after ->
        [none] bis { $before }
       *[other]
            { $before ->
                [none] seit { $after }
               *[other] { $after } bis { $before }
            }
    }
documents-narrowed = Nur hier gesucht: { $only }
documents-unmatched =
    Kein Dokument passt: { $only }.{ $names ->
        [none] {""}
       *[other] {" "}Ähnliche Namen: { $names }.
    }
documents-widened = In diesen Dokumenten war nichts zu finden: { $only }. Ich habe alle Dokumente durchsucht.
search-widened =
    { $freshness ->
        [day] Vom letzten Tag war nichts zu finden
        [week] Aus der letzten Woche war nichts zu finden
        [month] Aus dem letzten Monat war nichts zu finden
        [year] Aus dem letzten Jahr war nichts zu finden
       *[any] Es war nichts zu finden
    }{ $domains ->
        [any] {""}
       *[other] {" "}auf { $domains }
    }; ich habe ohne diese Einschränkung gesucht.
links-left-out =
    { $count ->
        [one] Ein weiterer Link wurde nicht gelesen, wegen der Grenze für eine Antwort.
       *[other] { $count } weitere Links wurden nicht gelesen, wegen der Grenze für eine Antwort.
    }
try-again = Das konnte nicht gespeichert werden. Bitte versuchen Sie es gleich noch einmal.
not-kept = Ihre Frage konnte ich nicht speichern. Bitte stellen Sie sie in einer Minute noch einmal.
command-broke = Das hat nicht geklappt. Bitte versuchen Sie es in einer Minute noch einmal.
run-broke = Im Lauf { $run } ist etwas schiefgegangen. Noch einmal zu fragen kann helfen. Wenn nicht, geben Sie die Nummer des Laufs an Ihren Betreiber weiter.
question-gone = Diese Frage gibt es nicht mehr. Bitte stellen Sie sie noch einmal.
suggestion-gone = Diesen Vorschlag gibt es nicht mehr. Stellen Sie die Frage stattdessen im Thread.
answer-out-of-reach = Diese Antwort kann nicht gezeigt werden, weil sie Dokumente verwendet, die hier nicht gelesen werden dürfen.
words-out-of-reach = (nicht gezeigt: stammt aus Dokumenten, die hier nicht gelesen werden dürfen)
documents-out-of-reach = Der Zugriff auf Dokumente hat sich geändert, während { -brand } antwortete. Bitte fragen Sie noch einmal.
earlier-out-of-reach = Frühere Antworten in diesem Thread wurden ausgelassen, weil sie Dokumente verwenden, die hier nicht mehr durchsucht werden dürfen.
place-unknown = In dieser Art von Kanal kann ich nicht antworten. Fragen Sie in einem anderen.
asked-already = Diese Frage wurde schon gestellt. Sehen Sie sich die Antwort an, oder warten Sie darauf.

## Who may ask

denied-workspace = { -brand } ist für diesen Workspace nicht freigeschaltet. Wer { -brand } verwaltet, kann das ändern.
denied-channel = { -brand } antwortet in diesem Kanal nicht. Versuchen Sie es in einem anderen, oder lassen Sie ihn von der Verwaltung von { -brand } freigeben.
denied-user = Sie stehen nicht auf der Liste der Personen, die { -brand } fragen dürfen. Wer { -brand } verwaltet, kann Sie hinzufügen.
denied-role = Um { -brand } zu fragen, brauchen Sie eine andere Rolle. Wer { -brand } verwaltet, kann Ihnen sagen, welche, oder Ihre zulassen.
denied-direct = { -brand } nimmt keine Direktnachrichten an. Fragen Sie in einem Kanal, oder lassen Sie sie von der Verwaltung von { -brand } erlauben.
denied-console = Fragen aus der Konsole sind nicht erlaubt. Der Betreiber von { -brand } kann sie erlauben, indem er { $id } in { $setting } aufnimmt.
denied-console-roles = { $setting } erlaubt nur Personen mit Rollen, und in der Konsole gibt es keine. Der Betreiber von { -brand } kann Personen stattdessen in { $instead } nennen.
denied-guest = { -brand } antwortet Gästen hier nicht. Wer { -brand } verwaltet, kann das ändern.
denied-unknown = { -brand } konnte nicht feststellen, ob Sie Gast sind, und Gäste dürfen hier nicht fragen. Bitte fragen Sie gleich noch einmal.
denied-day-user = Ihr Recherchebudget für heute ist verbraucht. Ab 00:00 UTC können Sie wieder fragen, { $hours ->
        [one] in weniger als einer Stunde
       *[other] in weniger als { $hours } Stunden
    }.
denied-day-channel = Das Recherchebudget dieses Kanals für heute ist verbraucht. Ab 00:00 UTC können Sie hier wieder fragen, { $hours ->
        [one] in weniger als einer Stunde
       *[other] in weniger als { $hours } Stunden
    }.
denied-day-workspace = Das Recherchebudget dieses Workspace für heute ist verbraucht. Ab 00:00 UTC können Sie wieder fragen, { $hours ->
        [one] in weniger als einer Stunde
       *[other] in weniger als { $hours } Stunden
    }.
denied-day-uploads = Jede Person kann am Tag Dateien mit { $limit } MB senden, und diese wären mehr. Ab 00:00 UTC können Sie wieder Dateien senden, { $hours ->
        [one] in weniger als einer Stunde
       *[other] in weniger als { $hours } Stunden
    }.
denied-day-questions = { $limit ->
        [one] Sie haben Ihre Frage für heute gestellt.
       *[other] Sie haben Ihre { $limit } Fragen für heute gestellt.
    } Ab 00:00 UTC können Sie wieder fragen, { $hours ->
        [one] in weniger als einer Stunde
       *[other] in weniger als { $hours } Stunden
    }.

## Rules of a channel

rules-title = So antwortet { -brand } in diesem Kanal
rules-line = { $key }: { $value }
rules-none = Dieser Kanal hat keine eigenen Regeln; es gelten die allgemeinen Einstellungen.
rules-set = Erledigt. In diesem Kanal ist { $key } jetzt: { $value }
rules-reset = Erledigt. In diesem Kanal gelten wieder die allgemeinen Einstellungen.
rules-unknown = Es gibt keine Regel namens „{ $key }“. Möglich sind: { $known }
rules-invalid = „{ $value }“ geht nicht für { $key }. Möglich: { $allowed }
rules-too-long = Das ist zu lang für { $key }: Höchstens { $most } Zeichen sind möglich.
rules-not-admin = Nur wer { -brand } verwaltet, kann hier ändern, wie es antwortet.
rules-help = { $show } zeigt die Regeln dieses Kanals, { $set } ändert eine davon ({ $keys }), { $reset } stellt die allgemeinen Einstellungen wieder her.
searched-title = Was { -brand } hier durchsucht
searched-providers = Suchmaschinen: { $names }
searched-collection = Dokumente „{ $name }“: { $why }
searched-why-everybody = für alle, die fragen dürfen
searched-why-channels = dieser Kanal darf sie durchsuchen
searched-why-people = Sie dürfen sie durchsuchen
searched-why-slack-groups = eine Ihrer Nutzergruppen darf sie durchsuchen
searched-why-discord-roles = eine Ihrer Rollen darf sie durchsuchen
searched-why-console-users = Sie dürfen sie durchsuchen
searched-why-console-groups = eine Ihrer Gruppen darf sie durchsuchen
searched-others = Dokumente ohne Sammlung: für alle, die fragen dürfen
searched-all = Alle indizierten Dokumente: für alle, die fragen dürfen
searched-not = { $count ->
    [one] Eine weitere Sammlung von Dokumenten wird hier nicht durchsucht.
   *[other] { $count } weitere Sammlungen von Dokumenten werden hier nicht durchsucht.
}
searched-guest = Keine Dokumente: Sie werden weder für Gäste durchsucht noch dort, wo Außenstehende mitlesen können.
searched-unusable = Keine Dokumente: Der Betreiber von { -brand } muss die Sammlungen in den Einstellungen korrigieren.

## Standing questions

watch-changed = Was sich seit { $since } geändert hat
watch-now = Jetzt:
watch-before = Vorher:
watch-over =
    Ich prüfe diese Frage nicht mehr, weil seit { $days ->
        [one] einem Tag
       *[other] { $days } Tagen
    } niemand sie hier geöffnet oder darauf geantwortet hat: { $question }
watch-begun = Ich prüfe das { $schedule } und melde mich hier nur, wenn sich die Antwort ändert. Die ID ist { $id }.
watch-pressed = Wird beobachtet: Ich melde mich hier, wenn sich die Antwort ändert.
watch-pressed-daily = Wird täglich geprüft: Sie erfahren hier, wenn sich die Antwort ändert.
watch-pressed-weekly = Wird wöchentlich geprüft: Sie erfahren hier, wenn sich die Antwort ändert.
watch-badge =
    { $schedule ->
        [daily] Täglich beobachtet
        [weekly] Wöchentlich beobachtet
        [paused] Beobachtung pausiert
        [ended] Beobachtung beendet
       *[other] Beobachtet
    }
watch-daily = jeden Tag
watch-weekly = jede Woche
watch-cron = nach dem Zeitplan „{ $schedule }“ (UTC)
watch-line = { $id }: { $question } ({ $schedule }; { $state })
watch-due = nächste Prüfung am { $due }
watch-paused = pausiert
watch-ended = beendet
watch-looked = {", "}zuletzt geprüft am { $looked }: { $outcome }
watch-outcome-same = keine Änderung
watch-outcome-changed = die Antwort hat sich geändert
watch-outcome-no-answer = keine Antwort gefunden
watch-outcome-budget = das Tagesbudget war verbraucht
watch-outcome-refused = dort kann nicht mehr gefragt oder gepostet werden
watch-none = Sie beobachten noch keine Fragen.
watch-unknown = Sie beobachten keine Frage mit der ID { $id }.
watch-too-many =
    { $most ->
        [0] Hier können keine Fragen beobachtet werden.
        [one] Sie beobachten schon eine Frage, mehr sind nicht möglich. Beenden Sie sie zuerst.
       *[other] Sie beobachten schon { $most } Fragen, mehr sind nicht möglich. Beenden Sie zuerst eine davon.
    }
watch-schedule-unknown = „{ $schedule }“ ist kein Zeitplan. Möglich sind daily (täglich), weekly (wöchentlich) oder ein Cron-Ausdruck mit fünf Feldern wie "0 9 * * 1-5" (in UTC).
watch-schedule-too-often = „{ $schedule }“ ist zu oft. Zwischen zwei Prüfungen muss mindestens eine Stunde liegen.
watch-done-pause = Pausiert: { $question }
watch-done-resume = Wird wieder geprüft: { $question }
watch-done-stop = Wird nicht mehr geprüft: { $question }
watch-help = { $command } daily FRAGE beobachtet eine Frage (daily, weekly oder ein Cron-Ausdruck in Anführungszeichen). { $command } listet Ihre auf. { $command } pause ID, resume ID und stop ID ändern eine davon.
watch-button = Beobachten
watch-description = Eine Frage beobachten und von Änderungen erfahren; ohne Frage: Ihre auflisten
watch-name = beobachten
watch-question = Die Frage; leer lassen, um Ihre beobachteten Fragen aufzulisten
watch-every = Wie oft geprüft wird: daily, weekly oder ein Cron-Ausdruck in UTC
watch-id = Die ID einer Ihrer Fragen, um sie zu ändern
watch-action = Was damit geschehen soll
watch-pause = Pausieren
watch-resume = Fortsetzen
watch-stop = Beenden
watch-heading = Beobachtete Fragen
watch-why = Die letzte Frage jeden Tag erneut stellen und hier melden, wenn sich die Antwort ändert.
watch-intro = Diese Fragen werden nach Zeitplan erneut gestellt. Ändert sich eine Antwort, lesen Sie das in der jeweiligen Unterhaltung. Um eine hinzuzufügen, wählen Sie in einer Unterhaltung „Beobachten“.
watch-manage = „{ $question }“ ändern

correction-noted = Notiert: { $said }
correction-noted-on = Notiert zu „{ $question }“: { $said }
correction-not-kept = Diese Korrektur habe ich nicht gespeichert: Sie haben sie zurückgenommen oder an einem Tag schon { $most } gemacht.
correction-guest = Footnote speichert keine Korrekturen von Gästen oder in Kanälen, die mit einem anderen Unternehmen geteilt werden.
correction-title = Korrektur von { $name }, { $when }
correction-title-own = Ihre Korrektur, { $when }
correction-of = Korrektur der Antwort auf: { $question }
correction-remove = Entfernen
correction-removed = Entfernt. Spätere Antworten verwenden sie nicht.
correction-unknown = Es gibt keine Korrektur mit der ID { $id }.
correction-not-yours = Nur wer sie geschrieben hat oder Footnote verwaltet, kann eine Korrektur entfernen.
correction-heading = Korrekturen
correction-begin = Korrigieren
correction-say = Was stimmt stattdessen? Spätere Fragen finden es als Quelle.
correction-intro = Was an Antworten als falsch gemeldet wurde. Spätere Antworten verwenden es als Quelle.
correction-none = Noch keine Korrekturen. Antworten Sie auf eine Antwort mit dem, was daran falsch ist; die Korrektur erscheint dann hier.

## Being forgotten

forget-ask =
    Gespeichert sind { $messages ->
        [one] eine Nachricht
       *[other] { $messages } Nachrichten
    } von Ihnen und { $answers ->
        [0] keine Antworten
        [one] eine Antwort
       *[other] { $answers } Antworten
    } an Sie, mit dem, was dafür gefunden wurde. Ich kann all das löschen, für alle Kanäle. Das lässt sich nicht rückgängig machen. Was hier gepostet ist, bleibt, bis es jemand löscht. Zum Fortfahren: { $command }
forget-nothing = Von Ihnen ist nichts gespeichert.
forget-done =
    { $messages ->
        [0] Erledigt. Von Ihnen ist nichts gespeichert.
        [one] Erledigt. Eine Nachricht von Ihnen und was ich für Sie gefunden habe ist gelöscht.
       *[other] Erledigt. { $messages } Nachrichten von Ihnen und was ich für Sie gefunden habe sind gelöscht.
    } Was im Chat gepostet ist, bleibt, bis es jemand löscht.
forget-help = { $command } löscht, was von Ihren Nachrichten gespeichert ist.

## Home

home-title = Fragen und eine überprüfbare Antwort bekommen
home-intro = { -brand } sucht, liest die Seiten und antwortet mit einer Fußnote für jede Aussage.
home-how = So fragen Sie
home-how-mention = Erwähnen Sie mich mit Ihrer Frage in einem Kanal, in dem ich bin.
home-how-direct = Schreiben Sie mir direkt; eine Erwähnung ist nicht nötig.
home-how-follow-up = Antworten Sie im Thread, um weiterzufragen; ich weiß, was dort gesagt wurde.
home-how-command = Verwenden Sie /ask in einem Kanal, in dem ich bin.
home-how-shortcut = Wählen Sie „Recherchieren“ im Menü einer beliebigen Nachricht.
home-how-stop = Klicken Sie auf „Stoppen“, oder schreiben Sie „stop“.
home-connected = Verbunden
home-reasoner = Antwortet mit: { $name }
home-providers = Sucht mit: { $names }
home-documents =
    { $count ->
        [one] Ein lokales Dokument
       *[other] { $count } lokale Dokumente
    }
home-usage = Diesen Monat
home-questions =
    { $count ->
        [one] 1 Frage
       *[other] { $count } Fragen
    }
home-answered =
    { $count ->
        [one] 1 beantwortet
       *[other] { $count } beantwortet
    }
home-cost = { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD ausgegeben

## Commands

ask-description = Eine Frage recherchieren und eine Antwort mit Fußnoten bekommen
ask-question = Was Sie wissen möchten
ask-question-or-form = Was Sie wissen möchten; leer lassen für ein Formular mit mehr Platz
ask-file = Eine Datei, die mit der Frage gelesen wird
ask-depth = Wie gründlich gesucht wird
depth-auto = Automatisch
depth-quick = Schnell: eine Suche
depth-standard = Standard: suchen und lesen
depth-deep = Gründlich: dauert länger, liest mehr
depth-exhaustive = Erschöpfend: alles zu etwas, bis zu 150 Suchen
depth-tag-quick = Schnell
depth-tag-deep = Gründlich
depth-tag-exhaustive = Erschöpfend
stop-description = Die Recherche stoppen, die hier läuft
rules-description = Ansehen oder ändern, wie Footnote in diesem Kanal antwortet
shortcut-name = Recherchieren
shortcut-check-name = Fakten prüfen
command-accepted = Ich kümmere mich darum: { $question }
only-me-accepted = Ich antworte in einer Direktnachricht, die nur Sie sehen können.
only-me-refused = Ich kann Ihnen keine Direktnachrichten senden und deshalb nicht nur Ihnen antworten.
stop-name = stopp
forget-name = vergiss-mich
forget-description = Ansehen und löschen lassen, was von Ihren Nachrichten gespeichert ist
forget-confirm = „Ja“ wählen, um es löschen zu lassen; das lässt sich nicht rückgängig machen
forget-yes = Ja, löschen
ask-name = fragen
rules-show-description = Ansehen, wie Footnote in diesem Kanal antwortet
rules-set-description = Eine Einstellung für Antworten in diesem Kanal ändern
rules-reset-description = In diesem Kanal zu den allgemeinen Einstellungen zurückkehren
rules-key = Was eingestellt wird
rules-value = Der neue Wert

## The pane beside the conversation

prompts-title = Zum Beispiel
document-asked-about = Was sind die wichtigsten Punkte von „{ $title }“?
prompt-compare = Zwei Dinge vergleichen
prompt-compare-message = Wie unterscheiden sich Wärmepumpen und Gasheizungen bei Kosten und Emissionen?
prompt-explain = Etwas Neues erklären
prompt-explain-message = Was ist neu in der aktuellen Version von Python, und warum ist es wichtig?
prompt-summarize = Eine Seite zusammenfassen
prompt-summarize-message = Fasse https://de.wikipedia.org/wiki/Zitat in fünf Punkten zusammen.

## Remarks under an answer

budget-model-calls = Das Budget von { NUMBER($limit, useGrouping: 0) } Modellaufrufen war verbraucht.
budget-input-tokens = Das Budget von { NUMBER($limit, useGrouping: 0) } Eingabe-Token war verbraucht.
budget-usd = Das Budget von { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD war verbraucht.
budget-seconds = Die Zeit von { NUMBER($limit, maximumFractionDigits: 0) } Sekunden war verbraucht.
budget-searches = Das Budget von { NUMBER($limit, useGrouping: 0) } Suchen war verbraucht.
budget-pages = Das Budget von { NUMBER($limit, useGrouping: 0) } Seiten war verbraucht.
budget-output-tokens = Das Budget von { NUMBER($limit, useGrouping: 0) } Ausgabe-Token war verbraucht.
budget-day-user = Ihr Budget von { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD für heute war verbraucht.
budget-day-channel = Das Budget dieses Kanals von { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD für heute war verbraucht.
budget-day-workspace = Das Budget dieses Workspace von { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD für heute war verbraucht.
rests-on-found = Die Antwort stützt sich auf das bis dahin Gefundene.
quoted-without-model = Gefunden und zitiert wurde ohne das Sprachmodell.
closest-passages = Ähnlichste Passagen
closest-none-documents = Ihre Dokumente sagen dazu nichts.
closest-none = Nichts von dem, was gefunden wurde, beantwortet diese Frage.
closest-nearest = Die ähnlichsten Seiten: { $pages }
validity-draft = Entwurf
validity-deprecated = veraltet
validity-archived = archiviert
validity-ended = gültig bis { $words }
validity-early = gültig ab { $words }
validity-replaced =
    { $words ->
        [none] ersetzt
       *[other] ersetzt durch { $words }
    }
closest-greeting = Stellen Sie mir eine Frage, und ich zitiere die ähnlichsten Passagen, die ich finde, jede mit einer Fußnote.
judged-unknown = Einschätzung: Die Dokumente erwähnen { $names } nicht
judged-open = Einschätzung: Die Frage sagt nicht, worum es geht
judged-share = Einschätzung: Die beste Passage deckt { $covered } % der Frage ab; nötig sind { $enough } %
stopped-before-complete = Gestoppt, bevor die Antwort vollständig war.
answer-cut = Diese Antwort wurde an der Grenze von { NUMBER($limit, useGrouping: 0) } Token abgeschnitten: Fragen Sie nach weniger oder nach dem Rest.
research-outgrown = Die Recherche endete, weil sie nicht mehr in das Kontextfenster des Modells passte.
part-failed = „{ $question }“ konnte nicht recherchiert werden: { $reason }
model-away = Das Sprachmodell ist gerade nicht erreichbar. Ihr Administrator kann sehen, warum.
model-declined = Das Sprachmodell hat diese Frage abgelehnt. Stellen Sie sie anders.
model-unusable = Die Antwort des Sprachmodells war nicht verwendbar. Versuchen Sie es erneut, oder fragen Sie nach weniger.
peer-away = Ein nötiger Dienst ist gerade nicht erreichbar. Ihr Administrator kann sehen, warum.
peer-refused = Ein nötiger Dienst hat die Anfrage abgelehnt. Ihr Administrator kann sehen, warum.
reply-unusable = Die Antwort des Dienstes war nicht verwendbar.
documents-unindexed = { $count ->
    [one] Ein Dokument ist
   *[other] { $count } Dokumente sind
 } noch nicht indiziert und konnten nicht durchsucht werden; fragen Sie erneut, wenn es so weit ist.
documents-failed = Diese Dateien konnten nicht gelesen werden: { $names }.
documents-partly = Ein Teil davon konnte nicht gelesen werden: { $names }.
documents-unread = { $count } von { $files } Dateien hier sind von einer Art, die nicht gelesen wird ({ $kinds }).
queries-withheld = Einige Suchanfragen wurden nicht ins Web gesendet, weil sie Wörter aus Dokumenten oder Antworten enthielten; die Seite des Laufs nennt sie.
search-unanswered = Der Suchdienst { $names } hat nicht geantwortet.
page-away = Die Seite ist nicht erreichbar; versuchen Sie es später noch einmal.
page-refused = Programme dürfen die Seite nicht lesen; öffnen Sie sie selbst, und fügen Sie den Text ein.
page-unreadable = Sie enthält keinen lesbaren Text; fügen Sie den Text ein.
picture-too-large = Das Bild hat mehr als { $limit } MB; senden Sie eine kleinere Kopie.
picture-too-wide = Das Bild ist breiter oder höher als { $limit } Pixel; senden Sie eine kleinere Kopie oder den wichtigen Ausschnitt.
picture-damaged = Das Bild ist beschädigt; senden Sie es noch einmal.
picture-too-many = Zu einer Frage werden höchstens { $limit } Bilder gelesen; senden Sie die übrigen mit der nächsten.
picture-nothing = Das Modell hat darin nichts erkannt; schreiben Sie, was zu sehen ist.
picture-no-model = Bilder werden nur mit einem Modell gelesen; schreiben Sie, was zu sehen ist.
picture-no-sight = Das Modell { $model } liest keine Bilder; schreiben Sie, was zu sehen ist.
month-day = { $day }. { $month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
 }
day = { $date } { $year }
picture-sent = Bild von { $name }, { $date }
picture-sent-earlier = Bild von { $name }
price-unknown = Der Preis von { $model } ist nicht bekannt: Die Kosten fehlen in der Summe.
asked-here = hier
asked-elsewhere = in einem anderen Kanal
asked-there = in { $place }
asked-earlier = { $where } gefragt am { $date }: „{ $question }“.
verify-changed =
    { $corrected ->
        [0] { $left ->
            [one] Ein Satz widersprach seinen Quellen und wurde weggelassen.
           *[other] { $left } Sätze widersprachen ihren Quellen und wurden weggelassen.
        }
        [one] { $left ->
            [0] Ein Satz wurde korrigiert: Seine Quellen belegten ihn nicht.
            [one] Ein Satz wurde korrigiert und einer weggelassen: Ihre Quellen belegten sie nicht.
           *[other] Ein Satz wurde korrigiert, { $left } wurden weggelassen: Ihre Quellen belegten sie nicht.
        }
       *[other] { $left ->
            [0] { $corrected } Sätze wurden korrigiert: Ihre Quellen belegten sie nicht.
            [one] { $corrected } Sätze wurden korrigiert, einer wurde weggelassen: Ihre Quellen belegten sie nicht.
           *[other] { $corrected } Sätze wurden korrigiert, { $left } weggelassen: Ihre Quellen belegten sie nicht.
        }
    }
doubt-contradicted = seine Fußnoten widersprechen ihm
doubt-no-footnote = er hat keine Fußnote
doubt-not-covered = seine Fußnoten sagen das nicht
doubt-not-quoted = in seinen Fußnoten steht nicht: { $facts }

## Reports

# Verdicts on the statements of a text
check-none = In diesem Text lässt sich nichts prüfen: Er nennt keine Zahlen, Daten, Namen oder anderen Fakten.
check-counts = Mit dem Gefundenen verglichen: { $counts }.
check-count-supported = { $count } belegt
check-count-partly = { $count } teilweise belegt
check-count-contradicted = { $count } widerlegt
check-count-nothing = { $count } ohne Fund
check-count-uncheckable = { $count } nicht prüfbar
check-supported = Belegt
check-partly = Teilweise belegt
check-contradicted = Widerlegt
check-nothing = Nichts gefunden
check-uncheckable = Nicht prüfbar
check-unsaid = Nicht in den Quellen: { $words }
check-needs-model = Um die Aussagen eines Textes zu prüfen, ist ein Sprachmodell nötig.

report-limits = Was nicht gefunden wurde
report-dropped = Nicht mehr behandelt: { $topics }.
report-separator = { "; " }
report-cut-short = Die Teile des Berichts, die bis dahin nicht geprüft waren, wurden weggelassen.
report-not-drafted = Der Bericht konnte nicht entworfen werden; dies ist deshalb eine einfache Antwort.
report-not-sourced = Kein Teil des Berichts konnte an einer Quelle geprüft werden; dies ist deshalb eine einfache Antwort.
report-omitted-missed = „{ $name }“ wurde weggelassen: Für die Prüfung fehlte die Zeit.
report-omitted-failed = „{ $name }“ wurde weggelassen: Es konnte nicht geprüft werden.
report-omitted-nothing = „{ $name }“ wurde weggelassen: Es wurde nichts gefunden, um es zu prüfen.
report-cut = ⚠ Dieser Teil wurde an der Grenze von { NUMBER($limit, useGrouping: 0) } Token abgeschnitten.
report-stage =
    { $stage ->
        [draft] Entwurf
        [query] Entscheiden, wonach gesucht wird
        [reading] Suchen und lesen
       *[revision] Überarbeiten
    }, innerhalb von { NUMBER($seconds, maximumFractionDigits: 1) } s
report-stage-missed = nicht rechtzeitig fertig
report-stage-nothing = nichts gefunden
report-left-out = weggelassen
report-part = Teil { $number }
report-unsourced = An keiner Quelle geprüft: { $name }
report-deleted = Weggelassen, weil keine Quelle es belegt: { $name }
report-revised =
    Anhand von { $pages ->
        [one] 1 Seite
       *[other] { $pages } Seiten
    } überarbeitet, { $kept } % des Entwurfs behalten: { $name }

## The web console

web-ask = Fragen
web-overview = Überblick
web-handbook = Handbuch
web-places = Hauptmenü
web-skip = Zum Inhalt springen
web-threads = Unterhaltungen
web-no-threads = Hier erscheinen Ihre Unterhaltungen.
web-new = Neue Frage
web-follow-up = Weiterfragen …
web-question = Was möchten Sie wissen?
web-no-question = Bitte schreiben Sie Ihre Frage in Worten.
web-depth = Tiefe
web-send = Fragen
upload-files = Dateien
upload-attach = Dateien anhängen
upload-drop = Dateien hier ablegen, um dazu zu fragen
upload-remove = { $name } entfernen
upload-empty = Die Datei { $name } ist leer. Wählen Sie eine andere.
upload-too-large = Die Datei { $name } ist größer als { $limit } MB. Wählen Sie eine kleinere, oder fügen Sie den wichtigen Teil ein.
upload-all-too-large = Das sind mehr als { $limit } MB auf einmal. Senden Sie weniger oder kleinere Dateien.
upload-too-many = Höchstens { $limit } Dateien sind auf einmal möglich. Senden Sie die übrigen danach.
upload-unreadable = Die Datei { $name } kann nicht gelesen werden. Lesbar sind Text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB und CSV ohne Passwort sowie Bilder in PNG, JPEG, WebP und GIF.
upload-gone = Diese Datei ist nicht mehr da. Hängen Sie sie noch einmal an.
upload-without = Noch nicht gesendet. Senden Sie noch einmal, um ohne diese Datei zu fragen.
web-enter = Enter zum Senden
web-graph = Die Teilfragen und ihre Abhängigkeiten
web-state-waiting = wartet
web-state-running = läuft
web-state-done = fertig
web-state-failed = fehlgeschlagen
web-ready = Die Antwort ist fertig.
web-indexing = Dokumente werden indiziert: { $done } von { $total } Dateien sind schon durchsuchbar.
web-lost = Verbindung verloren. Neuer Versuch läuft …
web-unsent = Das konnte nicht gesendet werden. Bitte versuchen Sie es noch einmal.
web-resending = Ihre Frage ist noch nicht gesendet. Neuer Versuch läuft …
web-how = Wie kam diese Antwort zustande?
web-source = Quelle { $number }
web-quotes =
    { $count ->
        [one] 1 Zitat
       *[other] { $count } Zitate
    }
web-quote = Zitat { $number }
web-in-the-page = auf der Seite
web-sources-count = Quellen ({ $count })
web-closest = Ähnlichste Passagen aus Ihren Dokumenten
web-closest-why = Zitate, keine Antwort: Kein Sprachmodell hat sie gelesen.
web-closest-has = Enthält: { $words }
web-closest-has-none = Enthält keines der Wörter der Frage
web-closest-open = An dieser Stelle öffnen
web-closest-lacking = In keiner Passage: { $words }
web-searched = Gesucht nach: { $words }
web-copy-code = Code kopieren
web-footnote-before = Vorherige Fußnote
web-footnote-after = Nächste Fußnote
web-source-close = Quelle schließen
web-run-said = Was das Modell sagte
web-read-at = gelesen am
web-copy = Als Markdown kopieren
web-copied = Kopiert.
web-copy-this = Kopieren
web-more = Mehr zu dieser Frage
web-edit = Frage bearbeiten
web-edit-send = Speichern
web-cancel = Abbrechen
web-regenerate = Neu beantworten
web-delete = Frage und Antwort löschen
web-delete-sure = Wirklich löschen? Das lässt sich nicht rückgängig machen.
web-newest = Neueste
web-not-answered = Die Frage konnte nicht beantwortet werden.
web-show-all = Alle zeigen
web-show-less = Weniger zeigen
web-failed = Etwas ist schiefgegangen
web-not-found = Diese Seite gibt es nicht
web-not-found-why = Die Adresse ist vielleicht falsch, oder der Inhalt wurde gelöscht.
web-back = Zur Startseite
web-failed-why = Das geht hier in der Konsole nicht. Gehen Sie zurück und verwenden Sie die Schaltflächen und Links ihrer Seiten.
web-broke = Das ist ein Fehler in { -brand } und liegt nicht an Ihnen; er wurde protokolliert. Ein neuer Versuch kann helfen. Wenn nicht, geben Sie Ihrem Betreiber die Kennung { $reference } weiter.
web-form-unreadable = Das Formular ist nicht vollständig angekommen. Gehen Sie zurück und senden Sie es noch einmal.
web-too-large = Das ist zu groß, um es zu senden: mehr als { $most }.
web-send-as = Das hat den falschen Typ. Senden Sie es als { $kind }.
web-not-json = Das ist kein gültiges JSON.
web-depth-unknown = Diese Tiefe gibt es nicht. Wählen Sie eine aus dem Menü.
web-starting = { -brand } wird gerade gestartet oder beendet. Versuchen Sie es gleich noch einmal.
web-files-again = Wählen Sie Ihre Dateien noch einmal aus
web-for-operators = Diese Seite können nur Betreiber von { -brand } sehen.
web-handbook-gone = Diese Seite gibt es im Handbuch nicht.
web-too-many-streams = Es sind zu viele Seiten gleichzeitig offen. Schließen Sie einige davon.
refused-tries = Das waren zu viele falsche Versuche. Warten Sie eine Minute und versuchen Sie es dann noch einmal.
refused-requests = Das waren zu viele Anfragen in einer Minute. Warten Sie ein wenig und versuchen Sie es dann noch einmal.
refused-token = Dieses Token ist falsch. Das richtige steht in FOOTNOTE_CONSOLE_TOKEN.
refused-sign-in = Melden Sie sich zuerst an. Ein Programm sendet das Token als „Authorization: Bearer“.
refused-unknown = { -brand } kann gerade nicht feststellen, wer Sie sind. Versuchen Sie es gleich noch einmal.
refused-several = Der Header { $header } nennt nicht genau eine Person.
refused-by-proxy = Sie sind nicht angemeldet. Öffnen Sie die Konsole über den Proxy, der Personen anmeldet.
refused-host = Unter dem Namen { $host } kennt sich die Konsole nicht. Wer sie betreibt, kann FOOTNOTE_PUBLIC_URL auf die Adresse setzen, unter der sie erreichbar ist.
refused-path = Das ist kein Pfad der Konsole.
refused-cookie = Der Browser hat ein Cookie doppelt gesendet. Laden Sie die Seite neu.
refused-site = Diese Anfrage kam von einer anderen Website. Öffnen Sie die Konsole selbst.
refused-elsewhere = Diese Konsole lässt sich nur auf dem Rechner verwenden, auf dem sie läuft, unter http://127.0.0.1.
refused-open-proxy = Hinter einem Proxy braucht die Konsole FOOTNOTE_CONSOLE_TOKEN.
web-sign-in = Anmelden
web-sign-in-why = Geben Sie einmal das Token der Konsole ein. Ihr Betreiber kann es Ihnen geben.
web-sign-out = Abmelden
web-sign-out-here-why = Unterhaltungen bleiben; dieser Browser fragt wieder nach dem Token.
web-sign-out-here = In diesem Browser abmelden
web-sign-out-all-why = Wenn jemand, der nicht mehr dabei ist, das Token kennt, setzen Sie auch ein neues.
web-sign-out-all = Überall abmelden
web-token = Token
web-token-wrong = Falsches Token. Bitte prüfen Sie es.
sso-failed = Sie sind nicht angemeldet
sso-again = Noch einmal versuchen
sso-signed-out = Sie sind abgemeldet
sso-leaving = Sie sind bei Footnote abgemeldet. Als Nächstes meldet Ihr Anmeldedienst Sie ebenfalls ab.
sso-leave = Weiter
sso-signed-in-as = Sie sind als { $name } angemeldet. Unterhaltungen bleiben.
sso-sign-out-all-why = Das beendet Ihre Sitzungen in allen Browsern.
sso-away = Der Anmeldedienst ist gerade nicht erreichbar. Versuchen Sie es gleich noch einmal.
sso-denied = Der Anmeldedienst hat Sie nicht angemeldet: { $reason }
sso-stale = Diese Anmeldung hat zu lange gedauert oder in einem anderen Browser begonnen. Bitte versuchen Sie es noch einmal.
sso-not-allowed = Ihr Konto darf diese Konsole nicht verwenden. Bitten Sie Ihren Administrator um Zugang.
sso-nameless = Der Anmeldedienst liefert nichts Verwendbares im Claim „{ $claim }“, an dem Personen hier erkannt werden. Ihr Administrator kann das korrigieren.
sso-refused = Der Antwort des Anmeldedienstes ist nicht zu trauen. Ihr Administrator findet den Grund im Protokoll.
web-thread-gone = Diese Unterhaltung gibt es nicht mehr.
web-too-many-questions = Zu viele Fragen in einer Minute. Bitte warten Sie kurz, und fragen Sie dann noch einmal.
web-was-stop = Hier gibt es nichts zu stoppen. Um eine laufende Antwort zu stoppen, klicken Sie darunter auf „Stoppen“.
web-not-here = Diese Frage wurde in einem Chat gestellt. Bitte machen Sie dort weiter.
web-not-yours = Nur wer diese Frage gestellt hat, kann sie ändern.

## The console: asking

web-plan-nodes = { $done } von { $total } Teilen der Recherche fertig
web-plan-parts = { $done } von { $total } Teilen fertig
web-plan-searched =
    { $count ->
        [0] Noch keine Suchergebnisse
        [one] Einmal gesucht
       *[other] { $count }-mal gesucht
    }
web-plan-read =
    { $count ->
        [0] Noch keine Seite gelesen
        [one] Eine Seite gelesen
       *[other] { $count } Seiten gelesen
    }
web-plan-unread =
    { $count ->
        [one] eine nicht lesbar
       *[other] { $count } nicht lesbar
    }
web-plan-nothing-yet = Noch nichts gefunden.
web-plan-done = Recherchiert in { NUMBER($seconds, maximumFractionDigits: 1) } s
web-plan = Der Plan
web-plan-node = Gesucht wird: { $title }
web-plan-part = In Arbeit: { $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } s

### What a question searches

web-sources-asked = Durchsucht { $asked } von { $all } Quellen
web-sources-which = Was diese Frage durchsucht
web-sources-one = Durchsucht:
web-sources-nothing = Hier gibt es keine Quellen, die Sie durchsuchen dürfen.
web-sources-none = Wählen Sie mindestens eine Quelle aus.
web-source-other-documents = Andere Dokumente
web-source-web = Web
web-source-count =
    { $count ->
        [one] ein Dokument
       *[other] { $count } Dokumente
    }
prompt-wiki-building = Wer hat den Eiffelturm entworfen, und wie hoch ist er?
prompt-wiki-nature = Warum ist der Himmel blau?
prompt-wiki-history = Wann und von wem wurde der Buchdruck erfunden?

### Preferences and keys

web-prefs = Einstellungen
web-prefs-keep = Speichern
web-theme = Darstellung
web-theme-system = Wie das System
web-theme-light = Hell
web-theme-dark = Dunkel
web-language = Sprache
web-language-browser = Wie der Browser
web-language-partly = { $name } (teilweise)
web-zone = Zeitzone
web-zone-browser = Wie der Browser
web-zone-why = In dieser Zeitzone stehen Datum und Uhrzeit auf allen Seiten.
web-speak = Frage diktieren
web-speak-failed = Das Mikrofon konnte nicht verwendet werden.
web-keys = Tastenkürzel
web-key-send = Frage senden
web-key-line = Neue Zeile beginnen
web-key-box = Zum Fragefeld
web-key-mark = Zur nächsten Fußnote, zum nächsten Link oder zur nächsten Schaltfläche
web-key-close = Zitat, Menü oder diese Liste schließen
web-key-keys = Diese Liste zeigen

## The pages that explain a run

web-you = Sie
web-run-asked = Gefragt von { $name } · { $place }
web-run-conversation = Zur Unterhaltung
web-run-understood = Verstanden als:
web-run-sections = Auf dieser Seite
web-run-working = Footnote arbeitet daran. Diese Seite aktualisiert sich laufend.
web-run-pruned = Die Schritte dieses Laufs wurden wegen ihres Alters gelöscht. Geblieben ist nur die Antwort.
web-run-state-accepted = Wartet
web-run-state-running = In Arbeit
web-run-state-answered = Beantwortet
web-run-state-partial = Teilweise beantwortet
web-run-state-not-found = Nicht gefunden
web-run-state-failed = Fehlgeschlagen
web-run-state-stopped = Gestoppt
web-run-state-removed = Entfernt
web-run-step-waiting = wartet
web-run-step-running = läuft
web-run-step-done = fertig
web-run-step-failed = fehlgeschlagen
web-run-took = Von der Frage zur Antwort
web-run-worked = Arbeitszeit
web-run-depth = Tiefe
web-run-depth-auto = automatisch
web-run-depth-quick = schnell
web-run-depth-standard = Standard
web-run-depth-deep = gründlich
web-run-depth-exhaustive = erschöpfend
web-run-reasoner = Beantwortet mit
web-run-searches = Suchen
web-run-pages-read = Gelesene Seiten
web-run-calls = Modellaufrufe
web-run-tokens-in = Eingabe-Token
web-run-tokens-cached = Token aus dem Cache
web-run-tokens-out = Ausgabe-Token
web-run-cost = Kosten
web-run-attempts = Versuche
web-run-feedback = Rückmeldungen
web-run-answer = Die Antwort, Satz für Satz
web-run-answer-hint = Neben jedem Satz stehen die Passagen, die ihn belegen. Eine Nummer öffnet die Seite, wie sie gelesen wurde.
web-run-more-quotes =
    { $count ->
        [one] Eine weitere Passage dieser Seiten
       *[other] { $count } weitere Passagen dieser Seiten
    }
web-run-disagrees = Aber Seite [{ $number }] sagt
web-run-not-verbatim = nicht wörtlich auf der gespeicherten Seite
web-run-page-gone = die gespeicherte Seite ist nicht mehr da
web-run-checks = Prüfungen
web-run-check-quotes = { $good } von { $all } Zitaten stimmen wörtlich mit den gespeicherten Seiten überein.
web-run-check-cited = { $cited } von { $all } Sätzen, Überschriften und Hinweisen haben eine Fußnote.
web-run-check-no-doubt = Alle Zahlen, Daten und Namen stehen in ihrer Quelle.
web-run-check-verifying = Das kleine Modell vergleicht die Sätze mit ihren Zitaten.
web-run-check-verified = Nach Urteil des kleinen Modells sind { $good } von { $all } zitierenden Sätzen durch ihre Zitate belegt.
web-run-check-not-verified = Das kleine Modell konnte die Sätze nicht prüfen: { $problem }
web-run-verdicts = Das Urteil des kleinen Modells zu jedem Satz
web-run-verdicts-hint = Es erhielt jeden Satz mit genau den Zitaten, auf die er sich beruft.
web-run-verdict-supported = Belegt.
web-run-verdict-partly = Teilweise belegt.
web-run-verdict-not-supported = Nicht belegt.
web-run-verdict-contradicted = Widerlegt.
web-run-verdict-words = Nicht in den Zitaten: „{ $words }“.
web-run-verdict-marked = In der Antwort markiert.
web-run-verdict-left-out = Weggelassen.
web-run-verdict-restated = Die Antwort sagt jetzt:
web-run-check-missing = Nicht gefunden: { $what }
web-run-graph = Teilfragen
web-run-steps = Zeitlicher Ablauf
web-run-step = Schritt
web-run-seconds = Zeit
web-run-tokens = Token und Preis
web-run-paused = Dazwischen geschah { $seconds } lang nichts. Das Diagramm verkürzt diese Zeit.
web-run-waited = { $seconds } gewartet auf: { $lines }
web-run-attempt = Versuch { $number }
web-run-thinking = Gedankengang
web-run-search-summary =
    { $hits ->
        [one] 1 Treffer
       *[other] { $hits } Treffer
    }, { $read } gelesen · { NUMBER($seconds, maximumFractionDigits: 2) } s
web-run-for = für: { $line }
web-run-hit-read = gelesen
web-run-hit-failed = nicht lesbar
web-run-hit-left = nicht gelesen
web-run-hits-left =
    { $count ->
        [one] Ein nicht gelesener Treffer
       *[other] { $count } nicht gelesene Treffer
    }
web-run-pages = Seiten
web-run-read-at = gelesen
web-run-whole-page = der ganze Text, { $count } Zeichen
web-run-not-quoted = Nichts davon wird zitiert.
web-run-gap = { $count } Zeichen ausgelassen
web-run-revisions = Vom Entwurf zur Überarbeitung
web-run-revisions-hint = Jeder Teil wird aus dem Gedächtnis entworfen und dann anhand der dafür gelesenen Seiten korrigiert. Rot wurde entfernt, Grün hinzugefügt.
web-run-fate-revised = überarbeitet
web-run-fate-unsourced = weggelassen
web-run-fate-deleted = weggelassen
web-run-queries = Dafür gesucht:
web-run-draft = Entwurf
web-run-revision = Überarbeitung
web-run-back = Wie diese Antwort zustande kam
web-original = Original öffnen
web-original-gone = Die Datei ist nicht mehr da.
web-run-page-hint =
    { $count ->
        [0] So wurde die Seite gelesen. Nichts davon wird zitiert.
        [one] So wurde die Seite gelesen. Was daraus zitiert wird, ist markiert.
       *[other] So wurde die Seite gelesen. Was daraus zitiert wird, ist an { $count } Stellen markiert.
    }
web-history-today = Heute
web-history-yesterday = Gestern
web-history-pinned = Angeheftet
web-history-older = Ältere Unterhaltungen
web-history-all = Alle Unterhaltungen
web-history-find = Unterhaltungen suchen
web-history-search = Suchen
web-history-questions =
    { $count ->
        [one] eine Frage
       *[other] { $count } Fragen
    }
web-history-found =
    { $count ->
        [0] Keine Unterhaltung enthält die Wörter „{ $words }“.
        [one] Eine Unterhaltung enthält die Wörter „{ $words }“.
       *[other] { $count } Unterhaltungen enthalten die Wörter „{ $words }“.
    }
web-history-manage = { $name } verwalten
web-history-select = { $name } auswählen
web-history-select-all = Alle auf dieser Seite auswählen
web-history-delete-chosen = Ausgewählte löschen
web-history-delete-several =
    { $count ->
        [one] Eine Unterhaltung löschen?
       *[other] { $count } Unterhaltungen löschen?
    }
web-history-delete-several-why = Ihre Fragen, Antworten und Dateien werden endgültig gelöscht, und ihre Links funktionieren nicht mehr.
web-history-name = Name der Unterhaltung
web-history-rename = Umbenennen
web-history-pin = Oben in der Liste anheften
web-history-unpin = Nicht mehr anheften
web-history-delete = Unterhaltung löschen
web-history-delete-sure = Endgültig löschen
web-history-more = Mehr zu dieser Unterhaltung
web-did-rename = Umbenannt.
web-did-pin = Oben in der Liste angeheftet.
web-did-unpin = Nicht mehr angeheftet.
web-did-share = Der Link kann kopiert werden.
web-did-unshare = Der Link funktioniert nicht mehr.
web-share = Teilen
web-share-why = Den Link kann öffnen, wer diese Konsole verwenden und alle Quellen dieser Unterhaltung lesen darf.
web-share-begin = Link erstellen
web-share-end = Link widerrufen
web-share-copy = Link kopieren
web-share-copied = Link kopiert.
web-share-is = Geteilt
web-share-read-only = Diese Unterhaltung wurde geteilt. Sie können sie lesen, aber nicht ändern.
web-share-out-of-reach = Diese Unterhaltung kann nicht gezeigt werden: Sie verwendet Dokumente, die Sie nicht lesen dürfen.
web-export = Exportieren
web-export-pdf = Drucken oder PDF
web-export-html = HTML-Datei
web-export-md = Markdown
web-export-bib = Quellen als BibTeX
web-export-csl = Quellen als CSL-JSON
web-export-made = Exportiert
feedback-why = Was ist falsch daran?
feedback-wrong = Falsch
feedback-incomplete = Unvollständig
feedback-bad-source = Schlechte Quelle
feedback-outdated = Veraltet
feedback-words = In eigenen Worten (freiwillig)
feedback-send = Senden
web-overview-sum =
    { $days ->
        [1] Heute
       *[other] In den letzten { $days } Tagen
    }: { $questions ->
        [one] eine Frage
       *[other] { $questions } Fragen
    } von { $people ->
        [one] einer Person
       *[other] { $people } Personen
    }, { $unanswered ->
        [0] keine
       *[other] { $unanswered }
    } ohne Antwort{ $cost ->
        [0] { "" }
       *[other] , { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }.
web-overview-pace =
    Die Hälfte der Antworten kam innerhalb von { $median }{ $cost ->
        [0] { "" }
       *[other] ; eine Antwort kostete im Schnitt { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }.
web-overview-judged = Als hilfreich bewertet: { $good }, als nicht hilfreich: { $bad }.
web-overview-now = Gerade { $running } in Arbeit, { $waiting } in der Warteschlange.
web-overview-answered = Beantwortet
web-overview-unanswered = Ohne Antwort
web-overview-times =
    { $count ->
        [one] einmal gefragt
       *[other] { $count }-mal gefragt
    }
web-overview-unanswered-why = Die Quellen sagen dazu nichts oder nur einen Teil.
web-overview-add-search = Eine Quelle anbinden
web-overview-more-unanswered = Alle unbeantworteten Fragen
web-overview-complaints = Was Leser beanstandet haben
web-overview-no-complaints = Niemand hat eine Antwort als nicht hilfreich bewertet.
web-overview-more-feedback = Alle Rückmeldungen
web-overview-by-channel = Wo gefragt wurde
web-overview-by-collection = Was die Antworten zitieren
web-overview-collection = Sammlung
web-overview-answers-quote = Antworten
web-overview-documents-quoted = Dokumente
web-overview-no-collection = in keiner Sammlung
web-unanswered = Unbeantwortete Fragen
web-unanswered-why = Was gefragt wurde und in den Quellen nicht oder nur zum Teil steht. Fügen Sie Dokumente hinzu, oder binden Sie eine Quelle an, in der es steht. Fragen mit denselben Wörtern werden zusammen gezählt.
web-unanswered-csv = Als CSV herunterladen
web-unanswered-times = Wie oft gefragt
web-unanswered-none = Alle Fragen in diesem Zeitraum und an diesen Orten wurden beantwortet.
web-feedback = Rückmeldungen
web-feedback-why = Was Leser von den Antworten halten. Jede Frage führt dazu, wie sie beantwortet wurde.
web-feedback-verdict = Urteil
web-feedback-words = In eigenen Worten
web-feedback-at = Gegeben
web-feedback-none = Noch keine Rückmeldungen in diesem Zeitraum und an diesen Orten. Leser geben sie mit den Schaltflächen unter einer Antwort.
web-overview-filter = Filter
web-overview-period = Zeitraum
web-overview-days =
    { $count ->
        [1] Heute
       *[other] { $count } Tage
    }
web-overview-platform = Plattform
web-overview-workspace = Workspace
web-overview-channel = Kanal
web-overview-all = Alle
web-overview-show = Anzeigen
web-overview-questions = Fragen
web-overview-cost = Kosten
web-overview-per-day = Fragen pro Tag
web-overview-cost-per-day = Kosten pro Tag
web-overview-as-table = Als Tabelle
web-overview-day = Tag
web-overview-providers = Suchdienste
web-overview-providers-hint =
    { $count ->
        [one] In der letzten Suche.
       *[other] In den letzten { $count } Suchen.
    }
web-overview-provider = Suchdienst
web-overview-found = Suchen mit Treffern
web-overview-failed = Fehlgeschlagene Suchen
web-overview-last-failure = Letzter Fehler
web-overview-latest = Neueste Fragen
web-overview-question = Frage
web-overview-state = Ergebnis
web-overview-asked = Gefragt
web-overview-nothing = Keine Fragen in diesem Zeitraum und an diesen Orten.
web-overview-everything = Die letzten 90 Tage an allen Orten zeigen
web-overview-new = Noch keine Fragen. Sobald in einem verbundenen Chat oder in dieser Konsole gefragt wird, sehen Sie hier, was gefragt wurde, was nicht beantwortet werden konnte und was es gekostet hat.
web-overview-ask = Die erste Frage stellen
web-overview-csv = Die Tage als CSV herunterladen
web-overview-json = Alle Zahlen als JSON

### The documents that are searched, for operators

sources = Quellen
sources-none = Noch keine Dokumente. Laden Sie Dateien hoch, fügen Sie einen Ordner hinzu, oder nennen Sie Ordner in FOOTNOTE_DOCS.
sources-unindexed = Noch sind keine Dokumente indiziert: Rufen Sie zuerst `footnote index ORDNER` auf.
sources-path-gone = Es gibt keine Datei und keinen Ordner { $path }: Korrigieren Sie --docs oder FOOTNOTE_DOCS.
sources-sum =
    { $found ->
        [0] Es wurden keine Dateien gefunden.
        [one] { $documents } von 1 Datei wird durchsucht.
       *[other]
            { $documents ->
                [one] 1 von { $found } Dateien wird durchsucht.
               *[other] { $documents } von { $found } Dateien werden durchsucht.
            }
    }
sources-starts = { -brand } startet mit den neuen Dokumenten. Das dauert einige Sekunden.
sources-folders = Ordner
sources-index = Jetzt neu indizieren
sources-index-one = Diesen Ordner neu indizieren
sources-index-why = Nur neue, geänderte oder bisher unlesbare Dateien werden gelesen.
sources-indexing = Wird indiziert …
sources-looked = Letzte Prüfung:
sources-next = Nächste Prüfung:
sources-changed = Zuletzt gelesene Datei:
sources-number = { $count }
sources-document = Durchsucht
sources-stale = In älterer Fassung durchsucht
sources-copy = Gleicher Text wie eine andere
sources-empty = Leer
sources-large = Zu groß
sources-unreadable = Nicht lesbar
sources-kind = Nicht unterstützte Art
sources-hidden = Verborgen
sources-other = Verknüpfungen und Dateien ohne Leserecht
sources-folder = Ausgelassene Ordner
sources-readers = Wer sie lesen darf
sources-documents = Dokumente
sources-everybody = alle, die fragen dürfen
sources-channels = Kanäle { $ids }
sources-people = Personen { $ids }
sources-slack-groups = Slack-Nutzergruppen { $ids }
sources-discord-roles = Discord-Rollen { $ids }
sources-console-users = in der Konsole { $ids }
sources-console-groups = Gruppen der Konsole { $ids }
sources-others = Außerdem durchsucht
sources-server = { $name }, ein Server des Model Context Protocol: { $readers }
sources-chat = { $name }: Unterhaltungen, für dort gestellte Fragen
sources-find = Index durchsuchen
sources-all = Was der Index in allen Dokumenten findet, die besten Treffer zuerst.
sources-hidden-from = Was der Index findet, die besten Treffer zuerst, ohne Dokumente, die Sie nicht lesen dürfen: { $names }.
sources-found =
    { $count ->
        [0] Nichts gefunden.
        [one] Eine Passage.
       *[other] { $count } Passagen.
    }
sources-open = An dieser Stelle öffnen
sources-read = Gelesen
sources-same = gleicher Text wie { $path }
sources-no-ending = ohne Dateiendung
sources-list-end = Hier gibt es keine weiteren Dateien.
sources-back = Zurück
sources-more = Weiter
sources-gone = Diese Datei oder dieser Ordner gehört nicht mehr zu den Dokumenten.
sources-is-set = Außerhalb der Konsole eingestellt, als { $name }.
sources-is-added = Hier hinzugefügt.
sources-uploads = Hochgeladene Dateien
sources-manage = Anzeigen oder entfernen
sources-add = Dokumente hinzufügen
sources-add-why = Alle, die fragen dürfen, können lesen, was hier hinzugefügt wird, wenn keine Sammlung die Leser begrenzt.
sources-shut = Hier können keine Dokumente hinzugefügt oder entfernt werden: Setzen Sie { $name }, um es Betreibern zu erlauben.
sources-upload = Dateien hochladen
sources-upload-why = Text, Markdown, HTML, PDF, Word, PowerPoint, Excel und mehr, je bis zu { $limit } MB und zehn auf einmal.
sources-upload-now = Hochladen
sources-replace = Dateien mit demselben Namen ersetzen
sources-no-file = Wählen Sie mindestens eine Datei.
sources-not-read = Die Art der Datei { $name } wird nicht gelesen. Lesbar sind Text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB und CSV.
sources-exists = Es gibt schon eine Datei { $name }. Wählen Sie „Dateien mit demselben Namen ersetzen“, um sie zu ersetzen.
sources-not-stored = Die Datei { $name } konnte nicht gespeichert werden: { $why }.
sources-add-folder = Einen Ordner dieses Servers hinzufügen
sources-add-look = Ordner prüfen
sources-add-found = { $path } hat { $found } Dateien, davon { $documents } lesbare. Alle, die fragen dürfen, werden sie lesen können.
sources-add-sure = Ordner hinzufügen
sources-add-not = Abbrechen
sources-no-folder = „{ $path }“ ist kein Ordner, den { -brand } lesen kann. Geben Sie den ganzen Pfad auf diesem Server an.
sources-own-folder = „{ $path }“ enthält den Ordner mit den eigenen Daten von { -brand } oder liegt darin. Nennen Sie einen anderen.
sources-followed = „{ $path }“ wird schon durchsucht.
sources-drop = Ordner entfernen
sources-drop-why = Seine Dateien bleiben, wo sie sind. Sie werden nicht mehr durchsucht.
sources-drop-sure = Entfernen

# Connecting chats and models in the console, and its page of the status.
connect = { $name } verbinden
connect-slack-app = Erstellen Sie die App. Der Link bringt alle Einstellungen mit: Wählen Sie Ihren Workspace, dann „Next“ und „Create“.
connect-slack-open = App bei Slack erstellen
connect-slack-bot = Wählen Sie „Install App“, installieren Sie sie in Ihrem Workspace, und kopieren Sie das „Bot User OAuth Token“.
connect-slack-bot-field = Bot User OAuth Token (xoxb-…)
connect-slack-socket = Wählen Sie unter „Basic Information“, „App-Level Tokens“ den Punkt „Generate Token and Scopes“. Fügen Sie connections:write hinzu, erzeugen Sie das Token, und kopieren Sie es.
connect-slack-socket-field = App-Level Token (xapp-…)
connect-slack-connected = Laden Sie es mit /invite { $name } in einen Kanal ein, und erwähnen Sie es.
connect-discord-app = Wählen Sie „New Application“. Wählen Sie unter „Bot“ den Punkt „Reset Token“, und kopieren Sie das Token.
connect-discord-open = Ihre Anwendungen bei Discord öffnen
connect-discord-intent = Schalten Sie auf derselben Seite „Message Content Intent“ ein.
connect-discord-enter = Geben Sie das Token ein.
connect-discord-field = Bot-Token
connect-discord-connected = Fügen Sie es mit dem Link oben Ihrem Server hinzu. Fragen Sie dann mit /ask, oder erwähnen Sie es.
connect-claude-key = Erstellen Sie bei Anthropic einen API-Schlüssel, und kopieren Sie ihn.
connect-claude-open = Seite mit Ihren Schlüsseln öffnen
connect-claude-enter = Geben Sie den Schlüssel ein.
connect-claude-field = API-Schlüssel (sk-ant-…)
connect-claude-connected = Claude sucht, liest und schreibt jetzt die Antworten.
connect-copy = Oder die Einstellungen der App (ihr Manifest) kopieren
connect-entered = Bereits eingegeben. Leer lassen, um es zu verwenden.
connect-missing = Hier fehlt eine Eingabe.
connect-test = Testen und verbinden
connect-lines = Nur die Zeilen für .env anzeigen
connect-lines-shown = Das funktioniert. Schreiben Sie diese Zeilen in die .env-Datei, wo { -brand } läuft, und starten Sie es neu. Sie werden nur einmal gezeigt und nirgends gespeichert.
connect-starting = { -brand } startet mit den neuen Einstellungen …
connect-connecting = Verbindung mit { $name } wird hergestellt …
connect-checking = Wird geprüft …
connect-given = { $name } ist außerhalb der Konsole eingerichtet ({ $names }): Ändern Sie es dort.
connect-off = Hier kann nichts eingegeben werden, weil auch andere diese Konsole erreichen können. Setzen Sie { $names }, wo { -brand } läuft, oder erlauben Sie es mit FOOTNOTE_CONSOLE_SETUP=on.
connect-kept-why = Was Sie eingeben, wird verschlüsselt dort gespeichert, wo { -brand } läuft.
connect-drop = Trennen
connect-drop-why = { -brand } verwendet { $name } nicht mehr und löscht, was hier eingegeben wurde.
status = Status
status-again = Erneut prüfen
status-checked = Geprüft
status-connected = Verbunden
status-works = Funktioniert
status-problem = Problem
status-note = Hinweis
status-off = Nicht eingerichtet
status-checking = Wird geprüft

## Why a file is not read; the kinds of files

unread-folder = Der Ordner lässt sich nicht öffnen ({ $why }).
unread-shut = Die Datei lässt sich nicht öffnen ({ $why }).
unread-cannot = Die Datei lässt sich nicht lesen ({ $why }).
unread-not-regular = Das ist keine gewöhnliche Datei.
unread-exchanged = Die Datei wurde durch einen Link ersetzt, während der Ordner gelesen wurde.
unread-link-nowhere = Der Link führt ins Leere.
unread-link-out = Der Link führt aus den durchsuchten Ordnern hinaus.
unread-no-text = Die Datei enthält keinen Text.
unread-too-large = Die Datei hat { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB, die Grenze für { $kind } liegt bei { NUMBER($most, maximumFractionDigits: 6) } MB: Teilen Sie sie in kleinere Dateien auf.
unread-too-large-pictures = Die Datei hat { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB, die Grenze für { $kind } liegt bei { NUMBER($most, maximumFractionDigits: 6) } MB: Teilen Sie sie in kleinere Dateien auf, oder speichern Sie sie mit kleineren Bildern.
unread-slow = Das Lesen dauert länger als { $seconds } s: Teilen Sie die Datei auf, oder wandeln Sie sie in Text um.
unread-memory = Das Lesen braucht mehr als { $most } Arbeitsspeicher: Teilen Sie die Datei in kleinere auf.
unread-broke = Das Leseprogramm ist an der Datei gescheitert: Speichern Sie sie neu, oder wandeln Sie sie in Text um.
unread-kept = Der Text vom { $date } bleibt erhalten, bis die Datei wieder lesbar ist.
unread-empty = { $name } ist leer; darin gibt es nichts zu lesen.
unread-kind = { $name } kann { -brand } nicht lesen ({ $what }); speichern Sie die Datei als PDF, .docx, HTML oder Text, oder fügen Sie den Text ein.
unread-image = { $name } kann { -brand } nicht lesen ({ $what }); speichern Sie die Datei als PNG, JPEG, WebP oder GIF, und schicken Sie sie mit einer Frage.
unread-old = { $name } hat ein altes Format ({ $what }); öffnen Sie die Datei, und speichern Sie sie als { $ending }, das { -brand } liest.
unread-locked = { $name } ist mit einem Passwort geschützt; speichern Sie eine Kopie ohne Passwort, oder fügen Sie den Text ein.
unread-beginning = { $name } ist beschädigt: Der Anfang passt nicht zum Format { $kind }; nehmen Sie eine andere Kopie.
unread-man = { $name } hat die Endung einer Manpage, ist aber keine; mit der Endung .txt wird die Datei als Text gelesen.
unread-broken = { $name } ist beschädigt ({ $what }); öffnen und speichern Sie die Datei neu, oder nehmen Sie eine andere Kopie.
unread-entities = { $name } definiert eigene Entitäten, was kein Office-Programm tut; öffnen und speichern Sie die Datei neu, oder fügen Sie den Text ein.
unread-unpacked = { $name } ist entpackt größer, als { -brand } liest ({ NUMBER($size, maximumFractionDigits: 0) } MB insgesamt); teilen Sie die Datei in kleinere auf, oder fügen Sie den wichtigen Teil ein.
unread-part = { $name } ist entpackt größer, als { -brand } liest ({ NUMBER($size, maximumFractionDigits: 0) } MB in einem Teil); teilen Sie die Datei in kleinere auf, oder fügen Sie den wichtigen Teil ein.
unread-paragraph = { $name } enthält einen Absatz oder eine Zeile mit mehr als { $most } MB, was in keinem Dokument vorkommt; fügen Sie den wichtigen Text ein.
unread-entries = { $name } enthält mehr als { $most } Dateien, was bei keinem Dokument vorkommt; nehmen Sie das Dokument selbst.
unread-gzip-large = { $name } ist entpackt größer als { $most }; teilen Sie die Datei in kleinere auf.
unread-gzip-broken = { $name } ist eine beschädigte gzip-Datei; packen Sie sie neu, oder nehmen Sie die Datei darin.
unread-pdf-pictures = { $name } ist ein PDF-Dokument aus Bildern ohne Text; nehmen Sie eine Fassung mit Texterkennung (OCR), oder fügen Sie den Text ein.
unread-pdf-broken = { $name } ist ein beschädigtes PDF-Dokument; nehmen Sie eine andere Kopie, oder fügen Sie den Text ein.
unread-pdf-locked = { $name } ist ein PDF-Dokument mit Passwort; nehmen Sie eine Fassung ohne Passwort, oder fügen Sie den Text ein.
unread-epub = { $name } ist ein EPUB-Buch mit Kopierschutz; nehmen Sie eines ohne Kopierschutz, oder fügen Sie den wichtigen Text ein.
unread-notebook = { $name } ist ein beschädigtes Jupyter-Notebook; öffnen und speichern Sie es neu, oder exportieren Sie es als HTML.
unread-outlook = { $name } ist eine beschädigte Outlook-Nachricht; speichern Sie sie neu oder als .eml.
unread-code = { $name } ist komprimierter Code; nehmen Sie den Quelltext, aus dem er erzeugt wurde.
unread-pandoc = { $name } ließ sich mit pandoc nicht lesen; speichern Sie die Datei als PDF, .docx, HTML oder Text.
unread-no-pandoc = Für { $name } wird pandoc gebraucht: Installieren Sie es, oder führen Sie pip install 'footnote-bot[pandoc]' aus.
unread-crashed = { $name } konnte nicht gelesen werden: Das Leseprogramm ist abgestürzt oder brauchte mehr als { $most } Speicher; fügen Sie den Text ein.
unread-hungry = { $name } braucht zum Lesen mehr als { $most } Speicher; teilen Sie das Dokument auf, oder fügen Sie den Teil ein, auf den es ankommt.
unread-made-slow = { $name } ist so aufgebaut, dass das Lesen zu lange dauert; fügen Sie den Text ein.
unread-scripted = { $name } enthält keinen Text, der ohne Browser lesbar ist; fügen Sie den Text ein.
unread-unsearchable = { $name } ist zu lang oder so aufgebaut, dass die Suche nach Passagen darin zu lange dauert; fügen Sie den Teil ein, auf den es ankommt.
gate-login = { $name } zeigt nur ein Anmeldeformular; fügen Sie den Text ein oder nennen Sie eine öffentliche Seite.
gate-check = { $name } lässt nur Browser zu und zeigt stattdessen eine Prüfung; fügen Sie den Text ein.
gate-script = { $name } lässt nur Browser zu, denn der Text wird mit JavaScript angezeigt; fügen Sie ihn ein.
gate-missing = { $name } gibt es nicht: Die Website zeigt dort eine Fehlerseite; prüfen Sie die Adresse.
gate-sale = { $name } gibt es nicht mehr: Die Adresse steht zum Verkauf; suchen Sie eine andere.
gate-preview = { $name } zeigt ohne Bezahlung nur eine Vorschau; fügen Sie den Text ein oder nennen Sie eine freie Seite.
gate-cookies = { $name } zeigt nur eine Frage zu Cookies; fügen Sie den Text ein.
file-lost = Die Datei { $name } ist nicht mehr da: Hängen Sie sie noch einmal an.
disk-unmounted = Der Datenträger von { $path } ist nicht eingehängt; was davon indexiert ist, bleibt.
what-image = Bild
what-media = Bild, Ton oder Video
what-sound-video = Ton oder Video
what-audio = Tondatei
what-video = Video
what-font = Schriftart
what-archive = Archiv
what-program = Programm
what-database = Datenbank
what-binary = Binärdatei
what-xml = XML-Dokument
what-type = Typ { $type }
what-gzip = mehrfach mit gzip gepackt
what-xlsb = binäre Excel-Arbeitsmappe (.xlsb)
what-iwork = Dokument aus Pages, Numbers oder Keynote von Apple
what-doc = altes Word-Dokument (.doc)
what-xls = alte Excel-Arbeitsmappe (.xls)
what-ppt = alte PowerPoint-Präsentation (.ppt)
what-office = altes Office-Dokument
what-zip = ZIP-Datei wie bei Office-Dokumenten
what-document = Dokument
what-word = Word-Dokument
what-sheets = Excel-Arbeitsmappe
what-slides = PowerPoint-Präsentation
what-opendocument = OpenDocument-Datei
what-epub = EPUB-Buch
format-text = Nur-Text
format-man = Manpages
format-notebook = Jupyter-Notebooks
format-mail = E-Mail
format-outlook = Outlook-Nachrichten
format-subtitles = Mitschriften
format-settings = Konfigurationsdateien
format-log = Logdateien
format-code = Quelltext
format-gzipped = { $kind }, gepackt mit gzip

## Said in several places

sentences = { $first } { $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] Bytes
    [1] kB
    [2] MB
   *[3] GB
}
listed = { $first }, { $next }
storage-sqlite = SQLite in { $path }
storage-postgres = PostgreSQL auf { $host } (Datenbank { $name })

# The names of the parts that are checked
part-kept = In der Konsole eingestellt
part-storage = Speicher
part-uploads = Hochgeladene Dateien
part-documents = Dokumente
part-changes = Änderungen
part-extras = Extras
part-rights = Rechte
part-network = Netz
part-meaning = Suche nach Bedeutung
part-search =
    Suche ({ $name ->
        [local] Dokumente
       *[other] { $name }
    })
part-reader = Lesedienst
part-browser = Browser
part-model = Modell
part-budget = Budget
part-console = Konsole

# What the checks find
check-slow = Innerhalb von { $seconds } Sekunden kam keine Antwort. Prüfen Sie das Netz, und versuchen Sie es noch einmal.
check-broke = Das ist unerwartet gescheitert ({ $error }). Einzelheiten stehen im Log.
check-storage = { $place } funktioniert.
check-storage-open = Andere Benutzer dieses Rechners können { $names } in { $folder } lesen. `chmod -R go= { $folder }` sperrt sie aus.
check-storage-full = Nur noch { $free } Speicherplatz sind frei: Bitte schaffen Sie Platz.
check-uploads =
    { $count ->
        [0] Es sind keine hochgeladenen Dateien gespeichert.
        [one] Eine hochgeladene Datei ist gespeichert, { $size } groß.
       *[other] { $count } hochgeladene Dateien sind gespeichert, zusammen { $size }.
    }
check-uploads-today = Heute wurden { $sent } hochgeladen, höchstens { $most } von einer Person.
check-uploads-limit = Jede Person kann am Tag { $limit } hochladen.
check-budget =
    { $usd ->
        [0] Heute wurde nichts ausgegeben.
       *[other] Heute wurden { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD ausgegeben.
    }
check-budget-limits = Höchstens { $limits }.
check-budget-question = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD für eine Frage
check-budget-person = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD am Tag für eine Person
check-budget-channel = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD am Tag für einen Kanal
check-budget-workspace = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD am Tag für einen Workspace
check-documents-missing = Unter { $paths } ist nichts. Korrigieren Sie FOOTNOTE_DOCS, oder legen Sie es an.
check-documents-none = Noch ist nichts indiziert. Fügen Sie auf der Seite „Quellen“ Dokumente hinzu, oder rufen Sie `footnote index ORDNER` auf.
check-documents =
    { $count ->
        [0] Keine Dokumente sind
        [one] Ein Dokument ist
       *[other] { $count } Dokumente sind
    } in { $path } indiziert.
check-documents-unread =
    { $count ->
        [one] Eine von { $files } Dateien ist von einer Art, die nicht gelesen wird
       *[other] { $count } von { $files } Dateien sind von Arten, die nicht gelesen werden
    } ({ $kinds }).
check-documents-lost =
    { $count ->
        [one] Von einer Datei konnten weniger als 90 % der Wörter gelesen werden
       *[other] Von { $count } Dateien konnten weniger als 90 % der Wörter gelesen werden
    }: { $names }.
check-documents-stale =
    { $count ->
        [one] Eine Datei kann zurzeit nicht gelesen werden; ihr früherer Text wird weiter durchsucht
       *[other] { $count } Dateien können zurzeit nicht gelesen werden; ihr früherer Text wird weiter durchsucht
    }: { $names }.
check-changes-none = Kein Ordner wird verfolgt. FOOTNOTE_DOCS nennt die Ordner, die verfolgt werden.
check-changes-start = `footnote serve` sucht nur beim Start nach Änderungen, weil FOOTNOTE_DOCS_POLL 0 ist.
check-changes =
    `footnote serve` sucht { $seconds ->
        [one] jede Sekunde
       *[other] alle { $seconds } Sekunden
    } nach Änderungen, in großen Ordnern seltener.
check-changes-never = Bisher ist das noch nicht geschehen.
check-changes-last = Zuletzt geschah das um { $at } UTC.
extra-needed = { $use } braucht das Extra „{ $extra }“: { $install }.
extra-browser = Webseiten, die Skripte aufbauen
extra-discord = Discord
extra-mcp = das Model Context Protocol
extra-office = Excel-Arbeitsmappen, Outlook-Nachrichten
extra-openai = Modelle über die API von OpenAI
extra-otel = Traces für OpenTelemetry
extra-pandoc = RTF, LaTeX, DocBook, MediaWiki, Textile
extra-postgres = PostgreSQL und seine Warteschlange
extra-slack = Slack
extra-sso = Single Sign-on für die Konsole
extra-vectors = Suche in Dokumenten nach Bedeutung
check-extras-all = Alle sind installiert.
check-extras-one = { $extra } ({ $use })
check-extras = Nicht installiert: { $extras }. `{ $install }` installiert sie; nennen Sie nur, was Sie brauchen.
check-rights-none = Wer fragen darf, kann alle Dokumente durchsuchen. Um das einzuschränken, legen Sie in footnote.toml [[collections]] an.
check-rights = „{ $name }“ ({ $count }): { $who }.
check-rights-others = Alle anderen Dokumente ({ $count }): alle, die fragen dürfen.
check-rights-unindexed = noch nicht indiziert
check-rights-ever = Ohne FOOTNOTE_DOCS wird alles durchsucht, was je indiziert wurde.
check-network = Der Proxy { $proxy } antwortet.
check-network-authorities = Den Zertifizierungsstellen in { $path } wird ebenfalls vertraut.
check-network-none = Kein Proxy ist eingestellt.
check-network-pages = Seiten werden über { $proxy } gelesen ({ $target }).
check-network-names = Dieser Rechner kann keine Namen im Internet nachschlagen. FOOTNOTE_FETCH_PROXY_TARGET=unresolved überlässt das dem Proxy.
check-network-direct = Seiten werden ohne Proxy gelesen.
check-network-bypass = Ohne Proxy erreicht: { $hosts }.
check-meaning-off = Dokumente werden nur nach Wörtern durchsucht. Um sie auch nach Bedeutung zu durchsuchen, setzen Sie FOOTNOTE_EMBEDDINGS_URL.
check-meaning = { $model } antwortet mit Vektoren aus { $count } Zahlen.
check-meaning-vectors =
    { $count ->
        [0] Noch ist nichts indiziert.
       *[other] { $having } von { $count } Textstellen haben einen Vektor.
    }
check-meaning-missing = `footnote index` erzeugt die fehlenden.
check-search = Eine Probesuche hat funktioniert.
check-search-price = Eine Suche kostet { NUMBER($usd, minimumFractionDigits: 2) } USD und die Tokens eines Aufrufs von { $model }.
check-search-quota = Von { $most } Anfragen dieses Monats sind noch { $left } übrig.
check-search-unlimited = Der Tarif hat keine Monatsgrenze.
check-search-rate = Der Tarif erlaubt mehr Anfragen in der Sekunde, als gestellt werden: Mit FOOTNOTE_BRAVE_RATE={ $rate } werden sie genutzt.
check-search-credits =
    { $left ->
        [one] Ein Credit ist übrig.
       *[other] { $left } Credits sind übrig.
    }
check-search-used = { $used } von { $most } Credits sind verbraucht.
check-search-found =
    Eine Probesuche hat { $count ->
        [0] nichts
        [one] eine Seite
       *[other] { $count } Seiten
    } gefunden.
check-search-silent = Suchmaschinen, die nicht antworteten: { $names }.
check-mcp = Gesucht wird mit { $tools }.
check-mcp-read = Gelesen werden Seiten mit { $tool }.
check-mcp-others =
    { $count ->
        [one] Ein weiteres Werkzeug wird nie aufgerufen.
       *[other] { $count } weitere Werkzeuge werden nie aufgerufen.
    }
check-reader-off = Keiner. Damit ein Dienst Seiten liest, die einen Browser brauchen, setzen Sie FOOTNOTE_READER_URL.
check-reader = { $name } antwortet: { $url } wurde gelesen ({ $count } Zeichen).
check-browser-off = Keiner. Um Seiten zu lesen, die Skripte aufbauen, setzen Sie FOOTNOTE_BROWSER.
check-browser = Chromium { $version } startet.
check-browser-open = Er läuft ohne Sandbox, sodass eine bösartige Seite die Rechte von { -brand } erlangen könnte.
check-model = { $name } antwortet.
check-model-none = Keines: Antworten sind die passendsten Textstellen. Verbinden Sie Claude in der Konsole oder setzen Sie ANTHROPIC_API_KEY, oder setzen Sie FOOTNOTE_MODEL=openai:NAME für ein Modell bei OpenAI oder ein eigenes.
check-platform-off = Nicht verbunden. Verbinden Sie es in der Konsole, oder setzen Sie { $names }.
check-discord =
    { $name } ist auf { $count ->
        [0] noch keinem Server.
        [one] einem Server.
       *[other] { $count } Servern.
    }
check-discord-invite = Fügen Sie die Anwendung unter { $url } einem Server hinzu.
check-discord-strangers = Jeder kann sie für sich selbst installieren und mit { $setting } Dokumente durchsuchen. Schalten Sie „User Install“ unter „Installation“ aus, oder entfernen Sie die Einstellung.
check-discord-endpoint = Die Anwendung sendet Befehle an eine „Interactions Endpoint URL“, sodass sie { -brand } nie erreichen. Leeren Sie dieses Feld unter „General Information“ auf https://discord.com/developers/applications.
check-discord-intent = Discord zeigt { -brand } keine Nachrichten, die es nicht erwähnen, sodass auch Folgefragen eine Erwähnung brauchen. Schalten Sie unter „Bot“, „Privileged Gateway Intents“ auf https://discord.com/developers/applications „Message Content Intent“ ein.
check-discord-token = Discord akzeptiert DISCORD_TOKEN nicht. Kopieren Sie das Token noch einmal: „Bot“, „Reset Token“ auf https://discord.com/developers/applications.
check-discord-away = Discord ist nicht erreichbar. Prüfen Sie das Netz und https://discordstatus.com, und versuchen Sie es noch einmal.
check-slack = @{ $bot } ist in { $team }.
check-slack-socket = Der Socket Mode funktioniert.
check-slack-http = Ereignisse, die unter /slack/events eintreffen, werden geprüft.
check-slack-unused = SLACK_CLIENT_ID wird nicht verwendet, solange SLACK_BOT_TOKEN gesetzt ist.
check-slack-searched =
    { $meaning ->
        [True] Nachrichten werden nach Bedeutung durchsucht
       *[other] Nachrichten werden durchsucht
    } ({ $kinds }).
slack-public-channel = öffentliche Kanäle
slack-private-channel = private Kanäle
slack-mpim = Gruppennachrichten
slack-im = Direktnachrichten
check-slack-unsearched = Nachrichten werden nicht durchsucht, weil der App der Scope { $scope } fehlt.
check-slack-unsearchable = Nachrichten können nicht durchsucht werden ({ $detail }).
check-slack-files = Auch Dateien werden durchsucht.
check-slack-no-files = Dateien werden nicht durchsucht, weil der App der Scope { $scope } fehlt.
check-slack-installed =
    { $count ->
        [0] Noch hat kein Workspace die App installiert.
        [one] Ein Workspace hat die App installiert: { $names }.
       *[other] { $count } Workspaces haben die App installiert: { $names }.
    }
check-slack-install = Installieren Sie sie unter { $url }; Slack führt danach zu { $back } zurück.
check-slack-scopes =
    { $count ->
        [one] Der Slack-App fehlt der Scope { $names }
       *[other] Der Slack-App fehlen die Scopes { $names }
    }{ $team ->
        [none] {""}
       *[other] {" "}in { $team }
    }. Ergänzen Sie sie unter „OAuth & Permissions“ auf https://api.slack.com/apps (oder fügen Sie adapters/slack/manifest.yaml unter „App Manifest“ ein), und installieren Sie die App dann noch einmal.
check-slack-revoked = Slack akzeptiert das Token von { $team } nicht mehr. Installieren Sie die App dort noch einmal: { $url }.
check-slack-token = Slack akzeptiert { $setting } nicht ({ $code }). Kopieren Sie den Wert noch einmal von der Seite Ihrer App auf https://api.slack.com/apps.
check-slack-secret = SLACK_SIGNING_SECRET besteht nicht aus 32 hexadezimalen Ziffern. Kopieren Sie das Signing Secret aus „Basic Information“ Ihrer App auf https://api.slack.com/apps.
check-slack-kind = { $setting } beginnt nicht mit { $beginning }, ist also ein anderes Token. Kopieren Sie das richtige aus „{ $page }“ Ihrer App auf https://api.slack.com/apps.
check-slack-away = Slack antwortet unter { $url } nicht. Prüfen Sie das Netz oder FOOTNOTE_SLACK_API_URL.
check-slack-socket-scope = SLACK_APP_TOKEN fehlt connections:write. Erzeugen Sie damit ein neues App-Level Token unter „Basic Information“ Ihrer App auf https://api.slack.com/apps.
check-slack-socket-off = Slack öffnet keine Socket-Mode-Verbindung ({ $code }). Schalten Sie den Socket Mode Ihrer App auf https://api.slack.com/apps ein.
check-console = `footnote serve` öffnet sie auf { $place }.
check-console-shut = Allerdings kann dort niemand fragen.
check-console-list = { $setting } nennt die Konsole nicht: Nehmen Sie { $id } in die Liste auf.
check-console-without = Wenn Sie keine Konsole möchten, setzen Sie FOOTNOTE_CONSOLE=off.
check-console-off = Aus. Um im Browser zu fragen, entfernen Sie FOOTNOTE_CONSOLE.
check-console-closed = Geschlossen, weil andere sie erreichen können. Um sie zu öffnen, setzen Sie FOOTNOTE_CONSOLE_TOKEN oder FOOTNOTE_OIDC_ISSUER.
check-sso =
    { $issuer } meldet Personen an, mit { $count ->
        [one] einem Schlüssel
       *[other] { $count } Schlüsseln
    }. Tragen Sie dort { $redirect } als Rücksprungadresse ein.
check-sso-out = Tragen Sie { $address } als Adresse nach dem Abmelden ein.
kept-folder-gone = Den Ordner { $path } gibt es nicht.
kept-given = { $name } ist schon außerhalb der Konsole gesetzt. Ändern Sie es dort.
kept-key-gone = Schlüssel und Tokens, die in der Konsole eingegeben wurden, lassen sich nicht entschlüsseln: { $where } fehlt, ist nicht lesbar oder ein anderer Schlüssel. Legen Sie den richtigen zurück, oder geben Sie sie neu ein.
kept-key-none = Geheimnisse werden nur verschlüsselt gespeichert. Setzen Sie FOOTNOTE_ENCRYPTION_KEYS auf einen Schlüssel, den `footnote keys new` ausgibt, und bewahren Sie ihn getrennt von der Datenbank auf.
kept-key-unreadable = { $path } kann nicht gelesen werden ({ $why }).
kept-key-other = { $path } ist nicht der Schlüssel, den { -brand } dort geschrieben hat.
kept-key-unwritten = { $path } kann nicht geschrieben werden ({ $why }).

# What services answer
api-of = Die API von { $name }
wiki-at = Das Wiki auf { $host }
embeddings-endpoint = Der Endpunkt für Embeddings
claude-search = Die Websuche von Claude
search-late = Innerhalb von { $seconds } s kam keine Antwort: Versuchen Sie es später noch einmal.
search-rate = { $title } nimmt zurzeit keine weiteren Anfragen an: Versuchen Sie es später noch einmal.
search-down = { $title } ist überlastet oder ausgefallen (HTTP { $status }): Versuchen Sie es später noch einmal.
search-redirect = { $title } leitet anderswohin weiter, wohin nicht gefolgt wird: Prüfen Sie { $place }.
search-refused = { $title } nimmt die Anfrage nicht an (HTTP { $status }).
search-access = { $title } verweigert den Zugang: Erlauben Sie diesen Rechner dort, oder prüfen Sie { $place }.
search-key = { $title } akzeptiert den Schlüssel nicht: Korrigieren Sie { $key }.
search-quota = { $title }: Das Kontingent ist aufgebraucht. Erhöhen Sie die Grenze des Tarifs, oder nehmen Sie den Dienst aus FOOTNOTE_PROVIDERS.
search-garbled = { $title } gab eine Antwort, die nicht gelesen werden kann: Prüfen Sie { $place }.
search-slow = { $title } antwortet nicht rechtzeitig: Versuchen Sie es später noch einmal.
search-away = { $title } ist nicht erreichbar: Prüfen Sie das Netz und { $place }.
service-other = { $host } antwortet, aber anders als erwartet ({ $service }): Prüfen Sie { $url }.
service-slow = { $model } brauchte mehr als { $seconds } Sekunden für die Antwort: Versuchen Sie es noch einmal, oder setzen Sie FOOTNOTE_MODEL_TIMEOUT höher.
service-away = { $host } ist nicht erreichbar, oder die Verbindung brach ab: Prüfen Sie das Netz, und versuchen Sie es noch einmal.
service-garbled = { $host } sandte eine Antwort, die nicht gelesen werden kann: Versuchen Sie es noch einmal, oder prüfen Sie { $url }.
service-unpaid = Das Konto von { $key } kann diese Anfrage nicht bezahlen: { $words }
service-key = { $host } akzeptiert { $key } nicht: { $words }. Korrigieren Sie den Schlüssel oder seine Rechte.
service-unknown = { $host } kennt kein Modell { $model }: Setzen Sie { $setting } auf ein bekanntes.
service-nothing = { $host } bietet keine { $protocol }: Korrigieren Sie { $url } ({ $form ->
    [without] ohne /v1
   *[with] mit /v1
 }).
service-busy = { $host } ist überlastet und antwortete nach { $count ->
    [one] einem Versuch
   *[other] { $count } Versuchen
 } nicht: Versuchen Sie es später noch einmal.
service-trouble = { $host } hat eine Störung und antwortete nach { $count ->
    [one] einem Versuch
   *[other] { $count } Versuchen
 } nicht: Versuchen Sie es später noch einmal.
service-refused = { $host } hat eine Anfrage an { $model } abgelehnt: { $words }
reading-service = Der Lesedienst { $name }
wiki-none = Unter { $url } gibt es keine MediaWiki-API: Prüfen Sie { $place }.
wiki-login = { $title } darf nur nach einer Anmeldung gelesen werden.
wiki-refused = { $title } nimmt die Anfrage nicht an.
wiki-no-such = { $title } hat keine solche Seite.
wiki-no-page = { $site } hat keine Seite namens „{ $page }“.
wiki-no-article = { $url } ist kein Artikel von { $site }.
wiki-empty = Die Seite „{ $page }“ von { $site } hat keinen Text.
proxy-unconnected = Der Proxy { $proxy } verbindet nicht mit { $host } ({ $why }): Prüfen Sie ihn, HTTPS_PROXY und NO_PROXY sowie FOOTNOTE_CA_BUNDLE.
embeddings-quota = Das Kontingent des Schlüssels in { $key } ist aufgebraucht: Erhöhen Sie es.
embeddings-unknown = { $title } kennt die Adresse oder das Modell { $model } nicht: Prüfen Sie { $place } und FOOTNOTE_EMBEDDINGS_MODEL.
brave-rate = Brave nimmt in dieser Sekunde keine Anfragen mehr an: Versuchen Sie es später noch einmal, oder setzen Sie FOOTNOTE_BRAVE_RATE auf das, was der Tarif erlaubt.
searxng-json = SearXNG gibt keine Ergebnisse als JSON aus: Tragen Sie json bei search.formats in seiner settings.yml ein, und starten Sie es neu.
searxng-silent = SearXNG hat nichts gefunden, und diese seiner Suchmaschinen haben nicht geantwortet: { $names }. Prüfen Sie ihren Zustand, oder versuchen Sie es später noch einmal.
service-toolless = { $model } kann keine Werkzeuge aufrufen, die das Recherchieren braucht: Setzen Sie FOOTNOTE_MODEL auf ein Modell, das es kann.
mcp-tool = Sein Werkzeug { $tool } ist gescheitert: { $words }
mcp-refused = Er hat abgelehnt: { $words }
mcp-odd = Er hat ein Ergebnis gesendet, das nicht die Form hat, die er angibt.
mcp-credentials = Er nimmt unsere Zugangsdaten nicht an (HTTP { $status }): Korrigieren Sie headers oder oauth in [[mcp]].
mcp-broke = Die Verbindung zu ihm ist abgebrochen: Versuchen Sie es später noch einmal.
mcp-command = Der Befehl { $command } lässt sich nicht starten: Korrigieren Sie ihn in [[mcp]].
mcp-away = Er ist nicht erreichbar oder spricht das Protokoll nicht.
mcp-no-search = Er hat kein Werkzeug, das sucht: { $names }.
mcp-name-one = Nennen Sie eins bei `search` in [[mcp]].
browser-none = { $place } nennt { $name }, auf diesem Rechner gibt es kein solches Programm: Installieren Sie Chromium, oder korrigieren Sie den Namen.
browser-sandbox = Chromium startet hier nicht mit seiner Sandbox: Starten Sie { -brand } nicht als root und dort, wo User Namespaces erlaubt sind, oder setzen Sie in einem Container, der sonst nichts enthält, { $setting }=off.
browser-dead = Chromium ({ $name }) startet nicht: Probieren Sie es von Hand, oder korrigieren Sie { $place }.
sso-issuer = FOOTNOTE_OIDC_ISSUER ist { $given }, aber der Anbieter nennt sich { $its }: Setzen Sie es darauf.
sso-lacks = Das Discovery-Dokument des OpenID-Anbieters hat kein brauchbares { $name }.
toml-invalid = { $path } ist kein gültiges TOML: { $why }. Korrigieren Sie das dort.
toml-unusable = Die Sammlungen oder Server in { $path } sind nicht verwendbar. `footnote doctor` sagt, was nicht stimmt.
rights-gone = { $path } mit den Sammlungen ist weg: Legen Sie die Datei zurück.
rights-twice = Die Sammlungen { $first } und { $second } haben beide den Pfad { $path }: Lassen Sie ihn nur in einer.
rights-nowhere = Die Sammlung { $name } hat den Pfad { $path }, wo es weder Datei noch Ordner gibt: Korrigieren Sie ihn.
rights-outside = Die Sammlung { $name } hat den Pfad { $path }, der außerhalb der durchsuchten Dokumente liegt ({ $docs }): Korrigieren Sie ihn, oder nehmen Sie ihn in FOOTNOTE_DOCS auf.
