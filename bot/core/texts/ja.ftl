# The ids and variables are those of en.ftl; a message that is not here is in English.

-brand = Footnote

denied-day-questions = 本日の質問数の上限（{ $limit } 件）に達しました。あと { $hours } 時間以内、UTC 00:00 から再び質問できます。
web-language-partly = { $name }（一部）
