# The ids and variables are those of en.ftl; a message that is not here is in English.

-brand = Footnote

denied-day-questions = { $limit ->
        [one] Sie haben Ihre Frage für heute gestellt.
       *[other] Sie haben Ihre { $limit } Fragen für heute gestellt.
    } Weitere Fragen sind ab 00:00 UTC möglich, { $hours ->
        [one] in weniger als einer Stunde
       *[other] in weniger als { $hours } Stunden
    }.
web-language-partly = { $name } (teilweise)
