# The ids and variables are those of en.ftl; a message that is not here is in English.

-brand = Footnote

denied-day-questions = { $limit ->
        [one] Vous avez posé votre question du jour.
       *[other] Vous avez posé vos { $limit } questions du jour.
    } Vous pourrez en poser d’autres à 00:00 UTC, dans { $hours ->
        [one] moins d’une heure
       *[other] moins de { $hours } heures
    }.
web-language-partly = { $name } (partiel)
