# The ids and variables are those of en.ftl; a message that is not here is in English.

-brand = Footnote

denied-day-questions = { $limit ->
        [one] Ya has hecho tu pregunta de hoy.
       *[other] Ya has hecho tus { $limit } preguntas de hoy.
    } Podrás volver a preguntar a las 00:00 UTC, { $hours ->
        [one] en menos de una hora
       *[other] en menos de { $hours } horas
    }.
web-language-partly = { $name } (parcial)
