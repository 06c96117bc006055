# The words of Footnote. Short and friendly; say what happened, then what to do.
# Values in braces come from the code; keep every id and every variable in all catalogs.

-brand = Footnote

## While it works

working = Researching…
queued =
    { $ahead ->
        [0] Queued. Yours is next.
        [one] Queued. One question is ahead of yours.
       *[other] Queued. { $ahead } questions are ahead of yours.
    }
stopping = Stopping…
stopped = Stopped.
nothing-running = Nothing is running here, so there is nothing to stop.
stopping-count =
    { $count ->
        [one] Stopping what is running here…
       *[other] Stopping { $count } questions…
    }
edited-question = The question was edited. Answering it again…

## Steps of the plan

step-rewrite = Understanding the question
step-search = Searching: { $title }
step-read = Reading: { $title }
step-think = Thinking it through
step-plan = Planning the research
step-draft = Drafting
step-revise = Revising
step-write = Writing the answer
step-check = Checking the footnotes
step-other = { $title }
step-searches =
    { $count ->
        [one] 1 search
       *[other] { $count } searches
    }
step-pages =
    { $count ->
        [one] 1 page
       *[other] { $count } pages
    }
exhaustive-price =
    { $usd ->
        [-1] Up to { $searches } searches and { $minutes } minutes, price unknown. Stop it at any time to get what was found.
       *[other] Up to { $searches } searches, { $minutes } minutes and about { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD. Stop it at any time to get what was found.
    }
exhaustive-round =
    { $facts ->
        [one] After { $searches } of { $most } searches: 1 fact found
       *[other] After { $searches } of { $most } searches: { $facts } facts found
    }
elapsed = { NUMBER($seconds, maximumFractionDigits: 0) } s elapsed
more-steps =
    { $count ->
        [one] and one more step
       *[other] and { $count } more steps
    }

## Under the answer

sources-heading = Sources
more-sources =
    { $count ->
        [one] and one more source
       *[other] and { $count } more sources
    }
preview-edited = The question has been edited since. The link leads to the new answer.
preview-sources =
    { $count ->
        [one] One source
       *[other] { $count } sources
    }
text-given-by = text supplied by { $name }
answer-place-gone = I can no longer post the answer to “{ $question }” there: the channel was archived, or I was removed from it. Ask again here, or in another channel.
answer-refused = Slack did not accept the answer to “{ $question }” ({ $code }). Ask again for a shorter one, or ask an admin of the workspace.
unverified = ⚠ Unverified: “{ $sentence }” ({ $reason })
disagrees = ⚖ Sources disagree: “{ $sentence }”, but [{ $number }] says “{ $quote }”
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } s · { $searches ->
        [one] 1 search
       *[other] { $searches } searches
    } · { $pages ->
        [one] 1 page read
       *[other] { $pages } pages read
    }{ $cost ->
        [0] { "" }
       *[other] { " · " }${ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) }
    }
summary = { $spent } · run { $run }
details-button = Sources and how this was found
partly-answered = ◐ Partly answered. Not found: { $what }
doubts-counted =
    { $count ->
        [one] ⚠ One sentence is not supported by its sources
       *[other] ⚠ { $count } sentences are not supported by their sources
    }
disagreements-counted =
    { $count ->
        [one] ⚖ Sources disagree on one sentence
       *[other] ⚖ Sources disagree on { $count } sentences
    }
notes-counted =
    { $count ->
        [one] ⓘ One remark on how this was found
       *[other] ⓘ { $count } remarks on how this was found
    }
searched-for = Searched for: { $queries }
follow-ups-heading = You could ask next

## Buttons

stop-button = Stop
dig-deeper = Dig deeper
feedback-good = Helpful
feedback-bad = Not helpful
feedback-thanks = Thank you. Your feedback is saved with this answer.
feedback-ask-why = Thank you. Your feedback is saved with this answer. What is wrong with it?
delete-answer = Delete this answer
delete-answer-ask = This removes the answer here, and deletes your question and the answer from storage. It cannot be undone.
delete-answer-yes = Delete
delete-answer-no = Cancel
delete-answer-not-yours = Only the person who asked can delete this answer.

## When something is in the way

no-question = What would you like to know? Write your question right after mentioning me, or use /ask.
question-too-long = Your question has { $length } characters, but I can read at most { $most }. Shorten it, or attach the long part as a file.
files-question = What does { $names } say?
failed = I could not finish this one: { $reason }
retry-button = Try again
cannot-open-thread = I am not allowed to open a thread here, so I am answering in the channel. Someone who manages this channel can give me that permission.
cannot-read-history = I cannot read the earlier messages here, so I only know what I was asked directly. Someone who manages this channel can give me that permission.
history-too-slow = I could not read the earlier messages here in time, so I only know what I was asked directly. Asking again later may help.
asked-by = { $name } asked: { $question }
question-of = Question from { $name }
only-for-command = I am not a member here, so I can answer only your command, and only for 15 minutes. Someone who manages this server can invite me.
answer-in-file = The answer is too long for a message here. The file has the full text.
answer-comes-directly = This takes longer than the 15 minutes for which Discord lets me answer a command here. The answer comes to you as a direct message.
direct-closed = This takes longer than the 15 minutes for which Discord lets me answer a command here, and I cannot send you a direct message. Allow direct messages, and ask again.
only-for-minutes = I am not a member where you asked, so Discord gave me only 15 minutes to answer your command there. This took longer, so the answer is here.
only-so-many-messages = I am not a member where you asked, so Discord lets me post only a few messages for a command there. That is why the answer is here.
cannot-post = I am not allowed to write in that channel. Someone who manages it can invite me or give me that permission.
file-not-read = I could not read the file { $name }: { $reason }
file-gone = I could not read the file { $name }: it was deleted.
file-hidden = I could not read the file { $name }: it is hidden, because the workspace is above the limits of its plan.
file-elsewhere = I could not read the file { $name }: it is stored in another service. Share the file itself.
file-not-shown = I could not read the file { $name }: I cannot see it here. Share it again, or paste its text.
file-is-canvas = I could not read { $name }: a canvas or a list has no file to download. Paste its text, or share an export.
link-not-read = I could not read { $url }: { $reason }
more-elsewhere = I found more in places that only you can see. Ask me in a direct message to search them, too.
more-elsewhere-here = For your question in { $channel }, I found more in channels that not everybody there can read. Ask me here to search them, too.
documents-dated =
    { $after ->
        [none] until { $before }
       *[other]
            { $before ->
                [none] since { $after }
               *[other] { $after } to { $before }
            }
    }
documents-narrowed = Searched only in: { $only }
documents-unmatched =
    No document matches: { $only }.{ $names ->
        [none] {""}
       *[other] {" "}Similar names: { $names }.
    }
documents-widened = Nothing found in these documents: { $only }. I searched all documents.
search-widened =
    { $freshness ->
        [day] Nothing from the last day was found
        [week] Nothing from the last week was found
        [month] Nothing from the last month was found
        [year] Nothing from the last year was found
       *[any] Nothing was found
    }{ $domains ->
        [any] {""}
       *[other] {" "}on { $domains }
    }, so I searched without that limit.
links-left-out =
    { $count ->
        [one] One more link was not read, because of the limit for one answer.
       *[other] { $count } more links were not read, because of the limit for one answer.
    }
try-again = This could not be saved. Please try again in a moment.
not-kept = I could not save your question. Please ask it again in a minute.
command-broke = That did not work. Please try again in a minute.
run-broke = Something broke in run { $run }. Asking again may help. If it does not, give the run number to your operator.
question-gone = This question no longer exists. Please ask it again.
suggestion-gone = This suggestion no longer exists. Ask the question in the thread instead.
answer-out-of-reach = This answer cannot be shown, because it uses documents that may not be read here.
words-out-of-reach = (not shown: made from documents that may not be read here)
documents-out-of-reach = Access to documents changed while { -brand } was answering. Please ask again.
earlier-out-of-reach = Earlier answers in this thread were left out, because they use documents that may no longer be searched here.
place-unknown = I cannot answer in this kind of channel. Ask me in another one.
asked-already = This question was already asked. See its answer, or wait for it.

## Who may ask

denied-workspace = { -brand } is not enabled for this workspace. An admin of { -brand } can enable it.
denied-channel = { -brand } does not answer in this channel. Try another one, or ask an admin of { -brand } to allow it here.
denied-user = You are not on the list of people who may ask { -brand }. An admin of { -brand } can add you.
denied-role = You need another role to ask { -brand }. An admin of { -brand } can tell you which, or allow yours.
denied-direct = { -brand } does not take direct messages. Ask in a channel, or ask an admin of { -brand } to allow them.
denied-console = Questions from the console are not allowed. The operator of { -brand } can allow them by adding { $id } to { $setting }.
denied-console-roles = { $setting } allows only people with roles, and the console has no roles. The operator of { -brand } can name people in { $instead } instead.
denied-guest = { -brand } does not answer guests here. An admin of { -brand } can change that.
denied-unknown = { -brand } could not find out whether you are a guest, and guests may not ask here. Please ask again in a moment.
denied-day-user = Your research budget for today is spent. You can ask again at 00:00 UTC, { $hours ->
        [one] in less than an hour
       *[other] in less than { $hours } hours
    }.
denied-day-channel = This channel’s research budget for today is spent. You can ask here again at 00:00 UTC, { $hours ->
        [one] in less than an hour
       *[other] in less than { $hours } hours
    }.
denied-day-workspace = This workspace’s research budget for today is spent. You can ask again at 00:00 UTC, { $hours ->
        [one] in less than an hour
       *[other] in less than { $hours } hours
    }.
denied-day-uploads = Each person can send { $limit } MB of files a day, and these would be more. You can send files again at 00:00 UTC, { $hours ->
        [one] in less than an hour
       *[other] in less than { $hours } hours
    }.
denied-day-questions = { $limit ->
        [one] You have asked your question for today.
       *[other] You have asked your { $limit } questions for today.
    } You can ask again at 00:00 UTC, { $hours ->
        [one] in less than an hour
       *[other] in less than { $hours } hours
    }.

## Rules of a channel

rules-title = How { -brand } answers in this channel
rules-line = { $key }: { $value }
rules-none = This channel has no rules of its own; the general settings apply.
rules-set = Done. In this channel, { $key } is now: { $value }
rules-reset = Done. The general settings apply to this channel again.
rules-unknown = There is no rule named “{ $key }”. You can set: { $known }
rules-invalid = “{ $value }” does not work for { $key }. Possible: { $allowed }
rules-too-long = That is too long for { $key }: at most { $most } characters are possible.
rules-not-admin = Only an admin of { -brand } can change how it answers here.
rules-help = { $show } shows the rules of this channel, { $set } changes one of them ({ $keys }), { $reset } goes back to the general settings.
searched-title = What { -brand } searches here
searched-providers = Search engines: { $names }
searched-collection = Documents “{ $name }”: { $why }
searched-why-everybody = for everybody who may ask
searched-why-channels = this channel may search them
searched-why-people = you may search them
searched-why-slack-groups = a user group that you are in may search them
searched-why-discord-roles = a role that you have may search them
searched-why-console-users = you may search them
searched-why-console-groups = a group that you are in may search them
searched-others = Documents in no collection: for everybody who may ask
searched-all = All indexed documents: for everybody who may ask
searched-not = { $count ->
    [one] One more collection of documents is not searched here.
   *[other] { $count } more collections of documents are not searched here.
}
searched-guest = No documents: they are not searched for guests, nor where people from outside can read.
searched-unusable = No documents: the operator of { -brand } has to fix the collections in the settings.

## Standing questions

watch-changed = What has changed since { $since }
watch-now = Now:
watch-before = Before:
watch-over =
    I have stopped checking this question, because nobody has opened or answered it here for { $days ->
        [one] a day
       *[other] { $days } days
    }: { $question }
watch-begun = I will check this again { $schedule } and post here only when the answer changes. Its ID is { $id }.
watch-pressed = Watched: I post here when the answer changes.
watch-pressed-daily = Watched daily: I post here when the answer changes.
watch-pressed-weekly = Watched weekly: I post here when the answer changes.
watch-badge =
    { $schedule ->
        [daily] Watched daily
        [weekly] Watched weekly
        [paused] Watch paused
        [ended] Watch ended
       *[other] Watched
    }
watch-daily = every day
watch-weekly = every week
watch-cron = on the schedule “{ $schedule }” (UTC)
watch-line = { $id }: { $question } ({ $schedule }; { $state })
watch-due = next check on { $due }
watch-paused = paused
watch-ended = ended
watch-looked = {", "}last checked on { $looked }: { $outcome }
watch-outcome-same = no change
watch-outcome-changed = the answer changed
watch-outcome-no-answer = no answer was found
watch-outcome-budget = the day’s budget was used up
watch-outcome-refused = asking or posting there is no longer possible
watch-none = You have no standing questions yet.
watch-unknown = You have no standing question with the ID { $id }.
watch-too-many =
    { $most ->
        [0] Questions cannot be watched here.
        [one] You already have one standing question, which is the most. Stop it first.
       *[other] You already have { $most } standing questions, which is the most. Stop one first.
    }
watch-schedule-unknown = “{ $schedule }” is not a schedule. Use daily, weekly, or a cron expression of five fields, such as "0 9 * * 1-5" (in UTC).
watch-schedule-too-often = “{ $schedule }” is too often. Leave at least an hour between two checks.
watch-done-pause = Paused: { $question }
watch-done-resume = Checking again: { $question }
watch-done-stop = No longer checking: { $question }
watch-help = { $command } daily QUESTION watches a question (daily, weekly, or a cron expression in quotes). { $command } lists yours. { $command } pause ID, resume ID and stop ID change one.
watch-button = Watch this
watch-description = Watch a question and hear when its answer changes; without one, list yours
watch-name = watch
watch-question = The question to watch; leave it out to list yours
watch-every = How often to check: daily, weekly, or a cron expression in UTC
watch-id = The ID of one of your questions, to change it
watch-action = What to do with it
watch-pause = Pause
watch-resume = Resume
watch-stop = Stop
watch-heading = Standing questions
watch-why = Ask the last question again every day, and post here when its answer changes.
watch-intro = These questions are asked again on a schedule. When an answer changes, you read it in their conversation. To add one, choose “Watch this” in a conversation.
watch-manage = Change “{ $question }”

correction-noted = Noted: { $said }
correction-noted-on = Noted on “{ $question }”: { $said }
correction-not-kept = I did not keep this correction: you took it back, or you have made { $most } within a day.
correction-guest = Footnote keeps no corrections from guests, or in channels shared with another company.
correction-title = Correction by { $name }, { $when }
correction-title-own = Your correction, { $when }
correction-of = Correction of the answer to: { $question }
correction-remove = Remove
correction-removed = Removed. Later answers will not use it.
correction-unknown = There is no correction with the ID { $id }.
correction-not-yours = Only its author or an admin can remove a correction.
correction-heading = Corrections
correction-begin = Correct this
correction-say = What is right instead? Later answers use it as a source.
correction-intro = What people said was wrong with an answer. Later answers use it as a source.
correction-none = No corrections yet. Reply to an answer with what is wrong in it, and the correction appears here.

## Being forgotten

forget-ask =
    I have stored { $messages ->
        [one] one message
       *[other] { $messages } messages
    } of yours, and { $answers ->
        [0] no answers
        [one] one answer
       *[other] { $answers } answers
    } to you, with what was found for them. I can delete all of it, for every channel. This cannot be undone. What is posted here stays until somebody deletes it. To go on: { $command }
forget-nothing = I have stored nothing that you wrote.
forget-done =
    { $messages ->
        [0] Done. I have stored nothing that you wrote.
        [one] Done. I have deleted one message of yours, and what I found for you.
       *[other] Done. I have deleted { $messages } messages of yours, and what I found for you.
    } What is posted in chat stays until somebody deletes it.
forget-help = { $command } deletes what I have stored of what you wrote.

## Home

home-title = Ask, and get an answer you can check
home-intro = { -brand } searches, reads the pages, and answers with a footnote for every claim.
home-how = How to ask
home-how-mention = Mention me in any channel I am in, with your question.
home-how-direct = Write to me directly; no mention needed.
home-how-follow-up = Reply in the thread to ask more; I remember what was said there.
home-how-command = Use /ask in any channel I am in.
home-how-shortcut = Choose “Research this” in the menu of any message.
home-how-stop = Press Stop, or write “stop”.
home-connected = Connected
home-reasoner = Answering with: { $name }
home-providers = Searching with: { $names }
home-documents =
    { $count ->
        [one] One local document
       *[other] { $count } local documents
    }
home-usage = This month
home-questions =
    { $count ->
        [one] 1 question
       *[other] { $count } questions
    }
home-answered =
    { $count ->
        [one] 1 answered
       *[other] { $count } answered
    }
home-cost = ${ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } spent

## Commands

ask-description = Research a question and get an answer with footnotes
ask-question = What you would like to know
ask-question-or-form = What you would like to know; leave it out for a form with more room
ask-file = A file to read with the question
ask-depth = How thorough to be
depth-auto = Automatic
depth-quick = Quick: one search
depth-standard = Standard: search and read
depth-deep = Deep: takes longer, reads more
depth-exhaustive = Exhaustive: all of something, up to 150 searches
depth-tag-quick = Quick
depth-tag-deep = Deep
depth-tag-exhaustive = Exhaustive
stop-description = Stop the research that is running here
rules-description = See or change how Footnote answers in this channel
shortcut-name = Research this
shortcut-check-name = Check the facts
command-accepted = On it: { $question }
only-me-accepted = I answer in a direct message, which only you can see.
only-me-refused = I cannot send you direct messages, so I cannot answer only you.
stop-name = stop
forget-name = forget-me
forget-description = See what is stored of what you wrote, and have it deleted
forget-confirm = Choose yes to have it deleted; that cannot be undone
forget-yes = Yes, delete it
ask-name = ask
rules-show-description = Show how Footnote answers in this channel
rules-set-description = Change one thing about how Footnote answers in this channel
rules-reset-description = Go back to the general settings in this channel
rules-key = What to set
rules-value = What it should be

## The pane beside the conversation

prompts-title = For example
document-asked-about = What are the main points of “{ $title }”?
prompt-compare = Compare two things
prompt-compare-message = How do heat pumps and gas boilers compare in cost and emissions?
prompt-explain = Explain something new
prompt-explain-message = What is new in the latest release of Python, and why does it matter?
prompt-summarize = Sum up a page
prompt-summarize-message = Summarize https://en.wikipedia.org/wiki/Citation in five points.

## Remarks under an answer

budget-model-calls = The budget of { NUMBER($limit, useGrouping: 0) } model calls was spent.
budget-input-tokens = The budget of { NUMBER($limit, useGrouping: 0) } input tokens was spent.
budget-usd = The budget of { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD was spent.
budget-seconds = The time of { NUMBER($limit, maximumFractionDigits: 0) } seconds was spent.
budget-searches = The budget of { NUMBER($limit, useGrouping: 0) } searches was spent.
budget-pages = The budget of { NUMBER($limit, useGrouping: 0) } pages was spent.
budget-output-tokens = The budget of { NUMBER($limit, useGrouping: 0) } output tokens was spent.
budget-day-user = Your budget of { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD for today was spent.
budget-day-channel = This channel’s budget of { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD for today was spent.
budget-day-workspace = This workspace’s budget of { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD for today was spent.
rests-on-found = The answer uses what was found until then.
quoted-without-model = This was found and quoted without the model.
closest-passages = Closest passages
closest-none-documents = Your documents do not say.
closest-none = Nothing that was found answers this question.
closest-nearest = The nearest pages: { $pages }
validity-draft = draft
validity-deprecated = deprecated
validity-archived = archived
validity-ended = valid until { $words }
validity-early = valid from { $words }
validity-replaced =
    { $words ->
        [none] replaced
       *[other] replaced by { $words }
    }
closest-greeting = Ask me a question, and I quote the closest passages that I find, each with a footnote.
judged-unknown = Assessment: the documents do not mention { $names }
judged-open = Assessment: the question does not say what it is about
judged-share = Assessment: the best passage covers { $covered } % of the question; { $enough } % is required
stopped-before-complete = Stopped before the answer was complete.
answer-cut = This answer was cut off at the limit of { NUMBER($limit, useGrouping: 0) } tokens: ask for less, or for the rest.
research-outgrown = The research ended because it exceeded the model’s context window.
part-failed = “{ $question }” could not be researched: { $reason }
model-away = The model cannot be reached at the moment. Your administrator can see why.
model-declined = The model declined to work on this question. Ask it in another way.
model-unusable = The model’s reply could not be used. Try again, or ask for less.
peer-away = A service that is needed cannot be reached at the moment. Your administrator can see why.
peer-refused = A service that is needed refused the request. Your administrator can see why.
reply-unusable = The response could not be used.
documents-unindexed = { $count ->
    [one] One document is
   *[other] { $count } documents are
 } not indexed yet and could not be searched; ask again when they are.
documents-failed = These files could not be read: { $names }.
documents-partly = Part of this could not be read: { $names }.
documents-unread = { $count } of { $files } files here are of kinds that are not read ({ $kinds }).
queries-withheld = Some queries were not sent to the web because they contained words from documents or answers; the run’s page names them.
search-unanswered = The search provider { $names } did not answer.
page-away = It is unreachable; try again later.
page-refused = It may not be read by programs; open it yourself, and paste the text.
page-unreadable = It contains no readable text; paste the text.
picture-too-large = It has more than { $limit } MB; send a smaller copy of it.
picture-too-wide = It is wider or higher than { $limit } pixels; send a smaller copy, or the part that matters.
picture-damaged = It is a damaged picture; send it again.
picture-too-many = At most { $limit } pictures are read for a question; send the others with the next one.
picture-nothing = The model saw nothing in it; write what it shows.
picture-no-model = Pictures are read only with a model; write what it shows.
picture-no-sight = The model { $model } does not read pictures; write what it shows.
month-day = { $day } { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
 }
day = { $date } { $year }
picture-sent = Picture sent by { $name }, { $date }
picture-sent-earlier = Picture sent by { $name }
price-unknown = The price of { $model } is not known: its cost is not in the total.
asked-here = here
asked-elsewhere = in another channel
asked-there = in { $place }
asked-earlier = Asked { $where } on { $date }: “{ $question }”.
verify-changed =
    { $corrected ->
        [0] { $left ->
            [one] One sentence contradicted its sources; it was left out.
           *[other] { $left } sentences contradicted their sources; they were left out.
        }
        [one] { $left ->
            [0] One sentence was corrected: its sources did not support it.
            [one] One sentence was corrected and one left out: their sources did not support them.
           *[other] One sentence was corrected and { $left } left out: their sources did not support them.
        }
       *[other] { $left ->
            [0] { $corrected } sentences were corrected: their sources did not support them.
            [one] { $corrected } sentences were corrected and one left out: their sources did not support them.
           *[other] { $corrected } sentences were corrected and { $left } left out: their sources did not support them.
        }
    }
doubt-contradicted = its footnotes contradict it
doubt-no-footnote = it has no footnote
doubt-not-covered = its footnotes do not say that
doubt-not-quoted = its footnotes do not say: { $facts }

## Reports

# Verdicts on the statements of a text
check-none = Nothing in this text can be checked: it states no figures, dates, names or other facts.
check-counts = Checked against what was found: { $counts }.
check-count-supported = { $count } supported
check-count-partly = { $count } partly supported
check-count-contradicted = { $count } contradicted
check-count-nothing = { $count } with nothing found
check-count-uncheckable = { $count } not checkable
check-supported = Supported
check-partly = Partly supported
check-contradicted = Contradicted
check-nothing = Nothing found
check-uncheckable = Not checkable
check-unsaid = Not in the sources: { $words }
check-needs-model = Checking the statements of a text needs a language model.

report-limits = What was not found
report-dropped = No longer covered: { $topics }.
report-separator = { "; " }
report-cut-short = The parts of the report that had not been checked by then were left out.
report-not-drafted = The report could not be drafted, so this is a plain answer.
report-not-sourced = No part of the report could be checked against a source, so this is a plain answer.
report-omitted-missed = “{ $name }” was left out: there was no time left to check it.
report-omitted-failed = “{ $name }” was left out: it could not be checked.
report-omitted-nothing = “{ $name }” was left out: nothing was found to check it against.
report-cut = ⚠ This part was cut off at the limit of { NUMBER($limit, useGrouping: 0) } tokens.
report-stage =
    { $stage ->
        [draft] Draft
        [query] Decide what to search
        [reading] Search and read
       *[revision] Revise
    }, within { NUMBER($seconds, maximumFractionDigits: 1) } s
report-stage-missed = not done in time
report-stage-nothing = nothing was found
report-left-out = left out
report-part = part { $number }
report-unsourced = Not checked against any source: { $name }
report-deleted = Left out because no source supports it: { $name }
report-revised =
    Revised against { $pages ->
        [one] 1 page
       *[other] { $pages } pages
    }, { $kept }% of the draft kept: { $name }

## The web console

web-ask = Ask
web-overview = Overview
web-handbook = Handbook
web-places = Main menu
web-skip = Skip to the content
web-threads = Conversations
web-no-threads = Your conversations will appear here.
web-new = New question
web-follow-up = Ask a follow-up…
web-question = What would you like to know?
web-no-question = Please write your question in words.
web-depth = Depth
web-send = Ask
upload-files = Files
upload-attach = Attach files
upload-drop = Drop files to ask about them
upload-remove = Remove { $name }
upload-empty = The file { $name } is empty. Choose another one.
upload-too-large = The file { $name } is larger than { $limit } MB. Choose a smaller one, or paste the part that matters.
upload-all-too-large = This is more than { $limit } MB at once. Send fewer or smaller files.
upload-too-many = At most { $limit } files can be sent at once. Send the others after these.
upload-unreadable = The file { $name } cannot be read. Text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB and CSV without a password can, and PNG, JPEG, WebP and GIF pictures.
upload-gone = This file is no longer there. Attach it again.
upload-without = Not sent yet. Send it again to ask without this file.
web-enter = Enter to send
web-graph = The sub-questions and their dependencies
web-state-waiting = waiting
web-state-running = in progress
web-state-done = done
web-state-failed = failed
web-ready = The answer is ready.
web-indexing = Documents are being indexed: { $done } of { $total } files can be searched already.
web-lost = Connection lost. Reconnecting…
web-unsent = This could not be sent. Please try again.
web-resending = Your question is not sent yet. Trying again…
web-how = How was this answered?
web-source = Source { $number }
web-quotes =
    { $count ->
        [one] 1 quote
       *[other] { $count } quotes
    }
web-quote = Quote { $number }
web-in-the-page = in the page
web-sources-count = Sources ({ $count })
web-closest = Closest passages from your documents
web-closest-why = Quotes, not an answer: no language model has read them.
web-closest-has = Contains: { $words }
web-closest-has-none = Contains none of the question’s words
web-closest-open = Open at this place
web-closest-lacking = No passage contains: { $words }
web-searched = Searched for: { $words }
web-copy-code = Copy the code
web-footnote-before = Previous footnote
web-footnote-after = Next footnote
web-source-close = Close the source
web-run-said = What the model said
web-read-at = read on
web-copy = Copy as Markdown
web-copied = Copied.
web-copy-this = Copy
web-more = More about this question
web-edit = Edit the question
web-edit-send = Save
web-cancel = Cancel
web-regenerate = Regenerate
web-delete = Delete the question and its answer
web-delete-sure = Delete it? This cannot be undone.
web-newest = Newest
web-not-answered = The question could not be answered.
web-show-all = Show all
web-show-less = Show less
web-failed = Something went wrong
web-not-found = This page does not exist
web-not-found-why = The address may be wrong, or what was here has been deleted.
web-back = Back to the start page
web-failed-why = The console cannot do that here. Go back, and use the buttons and links of its pages.
web-broke = This is a fault in { -brand }, not something you did, and it was logged. Trying again may help. If it does not, give your operator the reference { $reference }.
web-form-unreadable = The form did not arrive whole. Go back, and send it again.
web-too-large = This is too large to send: more than { $most }.
web-send-as = This has the wrong type. Send it as { $kind }.
web-not-json = This is not valid JSON.
web-depth-unknown = There is no such depth. Choose one from the menu.
web-starting = { -brand } is starting or stopping. Try again in a moment.
web-files-again = Choose your files again
web-for-operators = Only operators of { -brand } can see this page.
web-handbook-gone = The handbook has no such page.
web-too-many-streams = Too many pages are open at once. Close some of them.
refused-tries = Too many wrong attempts. Wait a minute, then try again.
refused-requests = Too many requests in a minute. Wait a little, then try again.
refused-token = This token is wrong. The right one is in FOOTNOTE_CONSOLE_TOKEN.
refused-sign-in = Sign in first. A program sends the token as “Authorization: Bearer”.
refused-unknown = { -brand } cannot find out who you are right now. Try again in a moment.
refused-several = The header { $header } does not name exactly one person.
refused-by-proxy = You are not signed in. Open the console through the proxy that signs people in.
refused-host = The console does not go by the name { $host }. Its operator can set FOOTNOTE_PUBLIC_URL to the address at which people reach it.
refused-path = This is not a path of the console.
refused-cookie = The browser sent a cookie twice. Reload the page.
refused-site = This request came from another site. Open the console itself.
refused-elsewhere = This console can only be used on the machine it runs on, at http://127.0.0.1.
refused-open-proxy = Behind a proxy, the console needs FOOTNOTE_CONSOLE_TOKEN.
web-sign-in = Sign in
web-sign-in-why = Enter the console’s token once. Your operator can give it to you.
web-sign-out = Sign out
web-sign-out-here-why = Conversations stay; this browser asks for the token again.
web-sign-out-here = Sign out of this browser
web-sign-out-all-why = If somebody who left knows the token, set a new one as well.
web-sign-out-all = Sign out everywhere
web-token = Token
web-token-wrong = Wrong token. Please check it.
sso-failed = You are not signed in
sso-again = Try again
sso-signed-out = You are signed out
sso-leaving = You are signed out of Footnote. Next, your sign-in service signs you out as well.
sso-leave = Continue
sso-signed-in-as = You are signed in as { $name }. Conversations stay.
sso-sign-out-all-why = This ends your sessions in all browsers.
sso-away = The sign-in service cannot be reached now. Try again in a moment.
sso-denied = The sign-in service did not let you in: { $reason }
sso-stale = This sign-in took too long or began in another browser. Please try again.
sso-not-allowed = Your account may not use this console. Ask your administrator for access.
sso-nameless = The sign-in service sent nothing usable in the claim “{ $claim }”, which tells people apart here. Your administrator can correct that.
sso-refused = The answer of the sign-in service cannot be trusted. Your administrator finds the reason in the log.
web-thread-gone = This conversation no longer exists.
web-too-many-questions = Too many questions in a minute. Please wait a little, then ask again.
web-was-stop = There is nothing to stop here. To stop an answer in progress, press Stop below it.
web-not-here = This question was asked in a chat. Please continue there.
web-not-yours = Only the person who asked this question can change it.

## The console: asking

web-plan-nodes = { $done } of { $total } parts of the research done
web-plan-parts = { $done } of { $total } parts done
web-plan-searched =
    { $count ->
        [0] No search results yet
        [one] Searched once
       *[other] Searched { $count } times
    }
web-plan-read =
    { $count ->
        [0] No page read yet
        [one] Read one page
       *[other] Read { $count } pages
    }
web-plan-unread =
    { $count ->
        [one] one could not be read
       *[other] { $count } could not be read
    }
web-plan-nothing-yet = Nothing found yet.
web-plan-done = Researched in { NUMBER($seconds, maximumFractionDigits: 1) } s
web-plan = The plan
web-plan-node = Looking for: { $title }
web-plan-part = Working on: { $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } s

### What a question searches

web-sources-asked = Searches { $asked } of { $all } sources
web-sources-which = What this question searches
web-sources-one = Searches:
web-sources-nothing = There are no sources here that you may search.
web-sources-none = Choose at least one source to search.
web-source-other-documents = Other documents
web-source-web = Web
web-source-count =
    { $count ->
        [one] one document
       *[other] { $count } documents
    }
prompt-wiki-building = Who designed the Eiffel Tower, and how tall is it?
prompt-wiki-nature = Why is the sky blue?
prompt-wiki-history = When was the printing press invented, and by whom?

### Preferences and keys

web-prefs = Preferences
web-prefs-keep = Save
web-theme = Appearance
web-theme-system = Same as system
web-theme-light = Light
web-theme-dark = Dark
web-language = Language
web-language-browser = Same as browser
web-language-partly = { $name } (partial)
web-zone = Time zone
web-zone-browser = Same as browser
web-zone-why = Dates and times on all pages are shown in this time zone.
web-speak = Speak the question
web-speak-failed = The microphone could not be used.
web-keys = Keyboard shortcuts
web-key-send = Send the question
web-key-line = Begin a new line
web-key-box = Go to the question box
web-key-mark = Go to the next footnote, link or button
web-key-close = Close a quote, a menu or this list
web-key-keys = Show this list

## The pages that explain a run

web-you = You
web-run-asked = { $name } asked · { $place }
web-run-conversation = To the conversation
web-run-understood = Understood as:
web-run-sections = On this page
web-run-working = Footnote is working on this. This page updates as it goes.
web-run-pruned = The steps of this run were deleted because of their age. The answer is all that is left.
web-run-state-accepted = Waiting
web-run-state-running = Working
web-run-state-answered = Answered
web-run-state-partial = Partly answered
web-run-state-not-found = Not found
web-run-state-failed = Failed
web-run-state-stopped = Stopped
web-run-state-removed = Removed
web-run-step-waiting = waiting
web-run-step-running = in progress
web-run-step-done = done
web-run-step-failed = failed
web-run-took = From question to answer
web-run-worked = Working time
web-run-depth = Depth
web-run-depth-auto = automatic
web-run-depth-quick = quick
web-run-depth-standard = standard
web-run-depth-deep = deep
web-run-depth-exhaustive = exhaustive
web-run-reasoner = Answered with
web-run-searches = Searches
web-run-pages-read = Pages read
web-run-calls = Model calls
web-run-tokens-in = Tokens in
web-run-tokens-cached = Cached tokens
web-run-tokens-out = Tokens out
web-run-cost = Cost
web-run-attempts = Attempts
web-run-feedback = Feedback
web-run-answer = The answer, sentence by sentence
web-run-answer-hint = Each sentence stands beside the passages that support it. A number opens the page as it was read.
web-run-more-quotes =
    { $count ->
        [one] One more passage of these pages
       *[other] { $count } more passages of these pages
    }
web-run-disagrees = But page [{ $number }] says
web-run-not-verbatim = not word for word in the stored page
web-run-page-gone = the stored page is gone
web-run-checks = Checks
web-run-check-quotes = { $good } of { $all } quotations match the stored pages word for word.
web-run-check-cited = { $cited } of { $all } sentences, headings and remarks have a footnote.
web-run-check-no-doubt = Every figure, date and name was found in its source.
web-run-check-verifying = The small model is comparing the sentences with their quotes.
web-run-check-verified = The small model found { $good } of { $all } cited sentences supported by their quotes.
web-run-check-not-verified = The small model could not verify the sentences: { $problem }
web-run-verdicts = The small model’s verdict on each sentence
web-run-verdicts-hint = It was given each cited sentence with exactly the quotes that it cites.
web-run-verdict-supported = Supported.
web-run-verdict-partly = Partly supported.
web-run-verdict-not-supported = Not supported.
web-run-verdict-contradicted = Contradicted.
web-run-verdict-words = Not in the quotes: “{ $words }”.
web-run-verdict-marked = It is marked in the answer.
web-run-verdict-left-out = It was left out.
web-run-verdict-restated = The answer now says:
web-run-check-missing = Not found: { $what }
web-run-graph = Sub-questions
web-run-steps = Timeline
web-run-step = Step
web-run-seconds = Time
web-run-tokens = Tokens and price
web-run-paused = Nothing happened for { $seconds } in between. The chart shortens that time.
web-run-waited = waited { $seconds } for: { $lines }
web-run-attempt = attempt { $number }
web-run-thinking = Its reasoning
web-run-search-summary =
    { $hits ->
        [one] 1 hit
       *[other] { $hits } hits
    }, { $read } read · { NUMBER($seconds, maximumFractionDigits: 2) } s
web-run-for = for: { $line }
web-run-hit-read = read
web-run-hit-failed = could not be read
web-run-hit-left = not read
web-run-hits-left =
    { $count ->
        [one] One hit that was not read
       *[other] { $count } hits that were not read
    }
web-run-pages = Pages
web-run-read-at = read
web-run-whole-page = the whole text, { $count } characters
web-run-not-quoted = No part of it is quoted.
web-run-gap = { $count } characters left out
web-run-revisions = From draft to revision
web-run-revisions-hint = Each part is drafted from memory, then corrected against the pages read for it. Red was removed, green was added.
web-run-fate-revised = revised
web-run-fate-unsourced = left out
web-run-fate-deleted = left out
web-run-queries = Searched for it:
web-run-draft = Draft
web-run-revision = Revision
web-run-back = How this was answered
web-original = Open original
web-original-gone = The file is no longer there.
web-run-page-hint =
    { $count ->
        [0] This is the page as it was read. Nothing of it is quoted.
        [one] This is the page as it was read. What is quoted of it is marked.
       *[other] This is the page as it was read. What is quoted of it is marked, in { $count } places.
    }
web-history-today = Today
web-history-yesterday = Yesterday
web-history-pinned = Pinned
web-history-older = Older conversations
web-history-all = All conversations
web-history-find = Find conversations
web-history-search = Search
web-history-questions =
    { $count ->
        [one] one question
       *[other] { $count } questions
    }
web-history-found =
    { $count ->
        [0] No conversation has the words “{ $words }”.
        [one] One conversation has the words “{ $words }”.
       *[other] { $count } conversations have the words “{ $words }”.
    }
web-history-manage = Manage { $name }
web-history-select = Select { $name }
web-history-select-all = Select all on this page
web-history-delete-chosen = Delete selected
web-history-delete-several =
    { $count ->
        [one] Delete one conversation?
       *[other] Delete { $count } conversations?
    }
web-history-delete-several-why = Their questions, answers and files are deleted for good, and their links stop working.
web-history-name = Name of the conversation
web-history-rename = Rename
web-history-pin = Pin to the top of the list
web-history-unpin = Unpin
web-history-delete = Delete the conversation
web-history-delete-sure = Delete for good
web-history-more = More about this conversation
web-did-rename = Renamed.
web-did-pin = Pinned to the top of the list.
web-did-unpin = Unpinned.
web-did-share = The link is ready to copy.
web-did-unshare = The link no longer works.
web-share = Share
web-share-why = People who can use this console and read all sources of this conversation can open the link.
web-share-begin = Create a link
web-share-end = Revoke the link
web-share-copy = Copy the link
web-share-copied = Link copied.
web-share-is = Shared
web-share-read-only = This is a shared conversation. You can read it, but not change it.
web-share-out-of-reach = This conversation cannot be shown: it uses documents that you may not read.
web-export = Export
web-export-pdf = Print or PDF
web-export-html = HTML file
web-export-md = Markdown
web-export-bib = Sources as BibTeX
web-export-csl = Sources as CSL-JSON
web-export-made = Exported
feedback-why = What is wrong with it?
feedback-wrong = Wrong
feedback-incomplete = Incomplete
feedback-bad-source = Bad source
feedback-outdated = Outdated
feedback-words = In your own words (optional)
feedback-send = Send
web-overview-sum =
    { $days ->
        [1] Today
       *[other] In the last { $days } days
    }: { $questions ->
        [one] one question
       *[other] { $questions } questions
    } from { $people ->
        [one] one person
       *[other] { $people } people
    }, { $unanswered ->
        [0] none
       *[other] { $unanswered }
    } without an answer{ $cost ->
        [0] { "" }
       *[other] , { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }.
web-overview-pace =
    Half of the answers came within { $median }{ $cost ->
        [0] { "" }
       *[other] ; an answer cost { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD on average
    }.
web-overview-judged = Readers rated { $good } helpful and { $bad } not helpful.
web-overview-now = Right now: { $running } in progress, { $waiting } waiting.
web-overview-answered = Answered
web-overview-unanswered = Without an answer
web-overview-times =
    { $count ->
        [one] asked once
       *[other] asked { $count } times
    }
web-overview-unanswered-why = The sources do not say this, or only in part.
web-overview-add-search = How to connect a source
web-overview-more-unanswered = All unanswered questions
web-overview-complaints = What readers found wrong
web-overview-no-complaints = No reader has marked an answer as not helpful.
web-overview-more-feedback = All feedback
web-overview-by-channel = Where people asked
web-overview-by-collection = What the answers quote
web-overview-collection = Collection
web-overview-answers-quote = Answers
web-overview-documents-quoted = Documents
web-overview-no-collection = in no collection
web-unanswered = Unanswered questions
web-unanswered-why = What people asked and the sources do not say, or say only in part. Add documents or connect a source that says it. Questions in the same words are counted together.
web-unanswered-csv = Download as CSV
web-unanswered-times = Times asked
web-unanswered-none = All questions in this period and place were answered.
web-feedback = Feedback
web-feedback-why = What readers think of the answers. Each question leads to how it was answered.
web-feedback-verdict = Verdict
web-feedback-words = In their words
web-feedback-at = Given
web-feedback-none = No feedback yet in this period and place. Readers give it with the buttons below an answer.
web-overview-filter = Filter
web-overview-period = Period
web-overview-days =
    { $count ->
        [1] Today
       *[other] { $count } days
    }
web-overview-platform = Platform
web-overview-workspace = Workspace
web-overview-channel = Channel
web-overview-all = All
web-overview-show = Show
web-overview-questions = Questions
web-overview-cost = Cost
web-overview-per-day = Questions per day
web-overview-cost-per-day = Cost per day
web-overview-as-table = As a table
web-overview-day = Day
web-overview-providers = Search providers
web-overview-providers-hint =
    { $count ->
        [one] In the latest search.
       *[other] In the latest { $count } searches.
    }
web-overview-provider = Provider
web-overview-found = Searches with results
web-overview-failed = Failed searches
web-overview-last-failure = Last failure
web-overview-latest = Latest questions
web-overview-question = Question
web-overview-state = Outcome
web-overview-asked = Asked
web-overview-nothing = No questions in this period and place.
web-overview-everything = Show the last 90 days, all places
web-overview-new = No questions yet. When people ask in a connected chat or in this console, you see here what they asked, what could not be answered, and what it cost.
web-overview-ask = Ask the first question
web-overview-csv = Download the days as CSV
web-overview-json = All figures as JSON

### The documents that are searched, for operators

sources = Sources
sources-none = No documents yet. Upload files or add a folder, or name folders in FOOTNOTE_DOCS.
sources-unindexed = No documents are indexed yet: run `footnote index FOLDER` first.
sources-path-gone = There is no file or folder { $path }: correct --docs or FOOTNOTE_DOCS.
sources-sum =
    { $found ->
        [0] No files were found.
        [one] { $documents } of 1 file is searched.
       *[other]
            { $documents ->
                [one] 1 of { $found } files is searched.
               *[other] { $documents } of { $found } files are searched.
            }
    }
sources-starts = { -brand } starts with the new documents. This takes a few seconds.
sources-folders = Folders
sources-index = Index again now
sources-index-one = Index this folder again
sources-index-why = Only files that are new, changed or unreadable are read.
sources-indexing = Indexing…
sources-looked = Last check
sources-next = Next check
sources-changed = Last file read
sources-number = { $count }
sources-document = Searched
sources-stale = Searched in an older version
sources-copy = Same text as another
sources-empty = Empty
sources-large = Too large
sources-unreadable = Unreadable
sources-kind = Unsupported type
sources-hidden = Hidden
sources-other = Links, and files without read permission
sources-folder = Folders left out
sources-readers = Who may read them
sources-documents = Documents
sources-everybody = everybody who may ask
sources-channels = channels { $ids }
sources-people = people { $ids }
sources-slack-groups = Slack user groups { $ids }
sources-discord-roles = Discord roles { $ids }
sources-console-users = in the console { $ids }
sources-console-groups = groups of the console { $ids }
sources-others = Also searched
sources-server = { $name }, a server of the Model Context Protocol: { $readers }
sources-chat = { $name }: conversations, for questions asked there
sources-find = Search the index
sources-all = What the index finds in all documents, best matches first.
sources-hidden-from = What the index finds, best matches first, without documents that you may not read: { $names }.
sources-found =
    { $count ->
        [0] Nothing found.
        [one] One passage.
       *[other] { $count } passages.
    }
sources-open = Open at this place
sources-read = Read
sources-same = same text as { $path }
sources-no-ending = no file extension
sources-list-end = There are no more files here.
sources-back = Back
sources-more = More
sources-gone = This file or folder is no longer among the documents.
sources-is-set = Set outside of the console, as { $name }.
sources-is-added = Added here.
sources-uploads = Uploaded files
sources-manage = Show or remove them
sources-add = Add documents
sources-add-why = Everybody who may ask can read what is added here, unless a collection limits its readers.
sources-shut = To let operators add and remove documents here, set { $name }.
sources-upload = Upload files
sources-upload-why = Text, Markdown, HTML, PDF, Word, PowerPoint, Excel and more, up to { $limit } MB each and ten at once.
sources-upload-now = Upload
sources-replace = Replace files of the same name
sources-no-file = Choose at least one file.
sources-not-read = The type of the file { $name } is not supported. Text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB and CSV are.
sources-exists = There is a file { $name } already. Tick “Replace files of the same name” to replace it.
sources-not-stored = The file { $name } could not be stored: { $why }.
sources-add-folder = Add a folder of this server
sources-add-look = Look into it
sources-add-found = { $path } has { $found } files, { $documents } of kinds that are read. Everybody who may ask will be able to read them.
sources-add-sure = Add the folder
sources-add-not = Cancel
sources-no-folder = “{ $path }” is not a folder that { -brand } can read. Enter its full path on this server.
sources-own-folder = “{ $path }” contains the folder where { -brand } keeps its own data, or lies in it. Choose another one.
sources-followed = “{ $path }” is already searched.
sources-drop = Remove the folder
sources-drop-why = Its files stay where they are. They are no longer searched.
sources-drop-sure = Remove it

# Connecting chats and models in the console, and its page of the status.
connect = Connect { $name }
connect-slack-app = Create the app. The link brings all its settings along: choose your workspace, then “Next” and “Create”.
connect-slack-open = Create the app at Slack
connect-slack-bot = Choose “Install App”, install it to your workspace, and copy the “Bot User OAuth Token”.
connect-slack-bot-field = Bot User OAuth Token (xoxb-…)
connect-slack-socket = Under “Basic Information”, “App-Level Tokens”, choose “Generate Token and Scopes”. Add connections:write, generate the token, and copy it.
connect-slack-socket-field = App-level token (xapp-…)
connect-slack-connected = Invite it to a channel with /invite { $name } and mention it.
connect-discord-app = Choose “New Application”. Under “Bot”, choose “Reset Token” and copy the token.
connect-discord-open = Open your applications at Discord
connect-discord-intent = On the same page, switch on “Message Content Intent”.
connect-discord-enter = Enter the token.
connect-discord-field = Bot token
connect-discord-connected = Add it to your server with the link above. Then ask with /ask, or mention it.
connect-claude-key = Create an API key at Anthropic, and copy it.
connect-claude-open = Open the page of your keys
connect-claude-enter = Enter the key.
connect-claude-field = API key (sk-ant-…)
connect-claude-connected = Claude now searches, reads and writes the answers.
connect-copy = Or copy the settings of the app (its manifest)
connect-entered = Already entered. Leave it empty to keep it.
connect-missing = This is required.
connect-test = Test and connect
connect-lines = Only show the lines for .env
connect-lines-shown = This works. Put these lines into .env where { -brand } runs, and start it again. They are shown once and not stored.
connect-starting = { -brand } is starting with the new settings …
connect-connecting = Connecting to { $name } …
connect-checking = Checking …
connect-given = { $name } is set up outside the console ({ $names }): change it there.
connect-off = Nothing can be entered here, because others may reach this console. Set { $names } where { -brand } runs, or allow it with FOOTNOTE_CONSOLE_SETUP=on.
connect-kept-why = What you enter is stored encrypted where { -brand } runs.
connect-drop = Disconnect
connect-drop-why = { -brand } stops using { $name } and deletes what was entered here.
status = Status
status-again = Check again
status-checked = Checked
status-connected = Connected
status-works = Works
status-problem = Problem
status-note = Note
status-off = Not set up
status-checking = Checking

## Why a file is not read; the kinds of files

unread-folder = the folder cannot be opened ({ $why }).
unread-shut = it cannot be opened ({ $why }).
unread-cannot = it cannot be read ({ $why }).
unread-not-regular = it is not a regular file.
unread-exchanged = it was exchanged for a link while the folder was read.
unread-link-nowhere = a link that leads nowhere.
unread-link-out = a link that leads out of the indexed folders.
unread-no-text = there is no text in it.
unread-too-large = it has { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB, and the limit for { $kind } is { NUMBER($most, maximumFractionDigits: 6) } MB: split it into smaller files.
unread-too-large-pictures = it has { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB, and the limit for { $kind } is { NUMBER($most, maximumFractionDigits: 6) } MB: split it into smaller files, or save it with smaller pictures.
unread-slow = reading it takes more than { $seconds } s: split it, or convert it to text.
unread-memory = reading it takes more than { $most } of memory: split it into smaller files.
unread-broke = its reader broke on it: save it again, or convert it to text.
unread-kept = Its text of { $date } is kept until it can be read.
unread-empty = { $name } is empty; there is nothing to read in it.
unread-kind = { $name } is { $what }, which { -brand } does not read; save it as PDF, .docx, HTML or text, or paste the text.
unread-image = { $name } is { $what }, which { -brand } does not read; save it as PNG, JPEG, WebP or GIF, and send it with a question.
unread-old = { $name } is { $what }; open it and save it as { $ending }, which { -brand } reads.
unread-locked = { $name } is locked with a password; save a copy without one, or paste its text.
unread-beginning = { $name } is damaged: it does not begin like a file of the kind { $kind }; give another copy of it.
unread-man = { $name } has the extension of a manual page but is not one; give it the extension .txt to have it read as text.
unread-broken = { $name } is { $what } that is damaged; open and save it again, or give another copy of it.
unread-entities = { $name } declares entities of its own, which no Office program writes; open and save it again, or paste its text.
unread-unpacked = { $name } unpacks to more than { -brand } reads ({ NUMBER($size, maximumFractionDigits: 0) } MB in all); split it into smaller documents, or paste the part that matters.
unread-part = { $name } unpacks to more than { -brand } reads ({ NUMBER($size, maximumFractionDigits: 0) } MB in one part); split it into smaller documents, or paste the part that matters.
unread-paragraph = { $name } holds a paragraph or a row of more than { $most } MB, which no document does; paste the text that matters.
unread-entries = { $name } holds more than { $most } files, which no document does; give the document itself.
unread-gzip-large = { $name } unpacks to more than { $most }; split it into smaller files.
unread-gzip-broken = { $name } is a gzip file that is damaged; pack it again, or give the file in it.
unread-pdf-pictures = { $name } is a PDF document of pictures without text; give a version that was run through text recognition (OCR), or paste its text.
unread-pdf-broken = { $name } is a broken PDF document; give another copy of it, or paste its text.
unread-pdf-locked = { $name } is a PDF document locked with a password; give a version without one, or paste its text.
unread-epub = { $name } is an EPUB book that is protected against copying; give one without protection, or paste the text that matters.
unread-notebook = { $name } is a Jupyter notebook that is damaged; open and save it again, or export it as HTML.
unread-outlook = { $name } is a message of Outlook that is damaged; save it again, or as .eml.
unread-code = { $name } is compressed code; give the code that it was made from.
unread-pandoc = { $name } could not be read by pandoc; save it as PDF, .docx, HTML or text.
unread-no-pandoc = Reading { $name } needs pandoc: install it, or pip install 'footnote-bot[pandoc]'.
unread-crashed = { $name } could not be read: its reader crashed, or needed more than { $most } of memory; paste its text.
unread-hungry = { $name } takes more than { $most } of memory to read; split it, or paste the part that matters.
unread-made-slow = { $name } takes too long to read because of the way it is made; paste its text.
unread-scripted = { $name } contains no text that can be read without a browser; paste the text.
unread-unsearchable = { $name } is too long, or made in a way that takes too long, to find passages in it; paste the part that matters.
gate-login = { $name } shows only a login form; paste the text, or give a page that is public.
gate-check = { $name } lets only browsers in and shows a check instead; paste the text.
gate-script = { $name } lets only browsers in: it shows its text by JavaScript; paste the text.
gate-missing = { $name } does not exist: its site shows an error page there; check the address.
gate-sale = { $name } is gone: its address is for sale; look for another one.
gate-preview = { $name } shows only a preview to those who have not paid; paste the text, or give a page that is free.
gate-cookies = { $name } shows only a question about cookies; paste the text.
file-lost = The file { $name } is no longer there: attach it again.
disk-unmounted = The disk of { $path } is not mounted; what was indexed of it stays.
what-image = an image
what-media = an image, a sound file or a video
what-sound-video = a sound file or a video
what-audio = a sound file
what-video = a video
what-font = a font
what-archive = an archive
what-program = a program
what-database = a database
what-binary = a binary file
what-xml = an XML document
what-type = of the type { $type }
what-gzip = packed with gzip more than once
what-xlsb = a binary Excel workbook (.xlsb)
what-iwork = a document of Apple's Pages, Numbers or Keynote
what-doc = an old Word document (.doc)
what-xls = an old Excel workbook (.xls)
what-ppt = an old PowerPoint presentation (.ppt)
what-office = an old Office document
what-zip = a ZIP file, as Office documents are,
what-document = a document
what-word = a Word document
what-sheets = an Excel workbook
what-slides = a PowerPoint presentation
what-opendocument = an OpenDocument file
what-epub = an EPUB book
format-text = plain text
format-man = manual pages
format-notebook = Jupyter notebooks
format-mail = mail
format-outlook = Outlook messages
format-subtitles = transcripts
format-settings = settings
format-log = logs
format-code = source code
format-gzipped = { $kind } packed with gzip

## Said in several places

sentences = { $first } { $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] bytes
    [1] kB
    [2] MB
   *[3] GB
}
listed = { $first }, { $next }
storage-sqlite = SQLite in { $path }
storage-postgres = PostgreSQL at { $host } (database { $name })

# The names of the parts that are checked
part-kept = Set in the console
part-storage = Storage
part-uploads = Uploads
part-documents = Documents
part-changes = Changes
part-extras = Extras
part-rights = Rights
part-network = Network
part-meaning = Search by meaning
part-search =
    Search ({ $name ->
        [local] documents
       *[other] { $name }
    })
part-reader = Reading service
part-browser = Browser
part-model = Model
part-budget = Budget
part-console = Console

# What the checks find
check-slow = There was no answer within { $seconds } seconds. Check the network, and try again.
check-broke = This failed unexpectedly ({ $error }). The log has the details.
check-storage = { $place } works.
check-storage-open = Other users of this machine can read { $names } in { $folder }. `chmod -R go= { $folder }` keeps them out.
check-storage-full = Only { $free } of disk space is left: free some.
check-uploads =
    { $count ->
        [0] No uploaded files are stored.
        [one] One uploaded file is stored, of { $size }.
       *[other] { $count } uploaded files are stored, { $size } in all.
    }
check-uploads-today = Today { $sent } were uploaded, at most { $most } by one person.
check-uploads-limit = Each person can upload { $limit } a day.
check-budget =
    { $usd ->
        [0] Nothing was spent today.
       *[other] { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD were spent today.
    }
check-budget-limits = At most { $limits }.
check-budget-question = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD for a question
check-budget-person = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD a day for a person
check-budget-channel = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD a day for a channel
check-budget-workspace = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD a day for a workspace
check-documents-missing = There is nothing at { $paths }. Correct FOOTNOTE_DOCS, or create it.
check-documents-none = Nothing is indexed yet. Add documents on the page “Sources”, or run `footnote index FOLDER`.
check-documents =
    { $count ->
        [0] No documents are indexed
        [one] One document is indexed
       *[other] { $count } documents are indexed
    } in { $path }.
check-documents-unread =
    { $count ->
        [one] One of { $files } files is of a type that is not read
       *[other] { $count } of { $files } files are of types that are not read
    } ({ $kinds }).
check-documents-lost =
    { $count ->
        [one] Less than 90% of the words of one file could be read
       *[other] Less than 90% of the words of { $count } files could be read
    }: { $names }.
check-documents-stale =
    { $count ->
        [one] One file cannot be read now; its earlier text is still searched
       *[other] { $count } files cannot be read now; their earlier text is still searched
    }: { $names }.
check-changes-none = No folder is followed. FOOTNOTE_DOCS names the folders to follow.
check-changes-start = `footnote serve` looks for changes only when it starts, because FOOTNOTE_DOCS_POLL is 0.
check-changes =
    `footnote serve` looks for changes every { $seconds ->
        [one] second
       *[other] { $seconds } seconds
    }, less often in large folders.
check-changes-never = It has not done so yet.
check-changes-last = It last did so at { $at } UTC.
extra-needed = { $use } needs the extra “{ $extra }”: { $install }.
extra-browser = web pages built by script
extra-discord = Discord
extra-mcp = the Model Context Protocol
extra-office = Excel workbooks, messages of Outlook
extra-openai = models over OpenAI’s API
extra-otel = traces for OpenTelemetry
extra-pandoc = RTF, LaTeX, DocBook, MediaWiki, Textile
extra-postgres = PostgreSQL and its queue
extra-slack = Slack
extra-sso = single sign-on for the console
extra-vectors = searching documents by meaning
check-extras-all = All are installed.
check-extras-one = { $extra } ({ $use })
check-extras = Not installed: { $extras }. `{ $install }` adds them; name only those that you need.
check-rights-none = Everybody who may ask can search all documents. To limit that, declare [[collections]] in footnote.toml.
check-rights = “{ $name }” ({ $count }): { $who }.
check-rights-others = All other documents ({ $count }): everybody who may ask.
check-rights-unindexed = not indexed yet
check-rights-ever = Without FOOTNOTE_DOCS, everything that was ever indexed is searched.
check-network = The proxy { $proxy } answers.
check-network-authorities = The authorities in { $path } are trusted, too.
check-network-none = No proxy is set.
check-network-pages = Pages are read through { $proxy } ({ $target }).
check-network-names = This machine cannot look up names on the internet. FOOTNOTE_FETCH_PROXY_TARGET=unresolved leaves that to the proxy.
check-network-direct = Pages are read without a proxy.
check-network-bypass = Reached without a proxy: { $hosts }.
check-meaning-off = Documents are searched by words alone. To search them by meaning as well, set FOOTNOTE_EMBEDDINGS_URL.
check-meaning = { $model } answers with vectors of { $count } numbers.
check-meaning-vectors =
    { $count ->
        [0] Nothing is indexed yet.
       *[other] { $having } of { $count } passages have a vector.
    }
check-meaning-missing = `footnote index` makes the missing ones.
check-search = A test search worked.
check-search-price = A search costs { NUMBER($usd, minimumFractionDigits: 2) } USD, and the tokens of a call of { $model }.
check-search-quota = { $left } of the { $most } requests of this month are left.
check-search-unlimited = The plan has no monthly limit.
check-search-rate = The plan allows more requests in a second than are made: set FOOTNOTE_BRAVE_RATE={ $rate } to use them.
check-search-credits =
    { $left ->
        [one] One credit is left.
       *[other] { $left } credits are left.
    }
check-search-used = { $used } of { $most } credits are used.
check-search-found =
    A test search found { $count ->
        [0] nothing.
        [one] one page.
       *[other] { $count } pages.
    }
check-search-silent = Engines that did not answer: { $names }.
check-mcp = It is searched with { $tools }.
check-mcp-read = Pages are read with { $tool }.
check-mcp-others =
    { $count ->
        [one] One other tool is never called.
       *[other] { $count } other tools are never called.
    }
check-reader-off = None. To have a service read pages that need a browser, set FOOTNOTE_READER_URL.
check-reader = { $name } answers: it read { $url } ({ $count } characters).
check-browser-off = None. To read pages that are built by script, set FOOTNOTE_BROWSER.
check-browser = Chromium { $version } starts.
check-browser-open = It runs without its sandbox, so a malicious page could gain the rights of { -brand }.
check-model = { $name } answers.
check-model-none = None: answers are the closest passages. Connect Claude in the console or set ANTHROPIC_API_KEY, or set FOOTNOTE_MODEL=openai:NAME for a model at OpenAI or of your own.
check-platform-off = Not connected. Connect it in the console, or set { $names }.
check-discord =
    { $name } is in { $count ->
        [0] no server yet.
        [one] one server.
       *[other] { $count } servers.
    }
check-discord-invite = Add it to a server at { $url }.
check-discord-strangers = Anybody can install it for themselves, and { $setting } lets them search documents. Switch “User Install” off under “Installation”, or unset the setting.
check-discord-endpoint = The application sends commands to an “Interactions Endpoint URL”, so { -brand } never gets them. Empty that field under “General Information” at https://discord.com/developers/applications.
check-discord-intent = Discord does not show { -brand } messages that do not mention it, so follow-ups need a mention. Switch on “Message Content Intent” under “Bot”, “Privileged Gateway Intents”, at https://discord.com/developers/applications.
check-discord-token = Discord does not accept DISCORD_TOKEN. Copy the token again: “Bot”, “Reset Token” at https://discord.com/developers/applications.
check-discord-away = Discord cannot be reached. Check the network and https://discordstatus.com, and try again.
check-slack = @{ $bot } is in { $team }.
check-slack-socket = Socket Mode works.
check-slack-http = Events that arrive at /slack/events are verified.
check-slack-unused = SLACK_CLIENT_ID is not used while SLACK_BOT_TOKEN is set.
check-slack-searched =
    { $meaning ->
        [True] Messages are searched by meaning
       *[other] Messages are searched
    } ({ $kinds }).
slack-public-channel = public channels
slack-private-channel = private channels
slack-mpim = group messages
slack-im = direct messages
check-slack-unsearched = Messages are not searched, because the app lacks the scope { $scope }.
check-slack-unsearchable = Messages cannot be searched ({ $detail }).
check-slack-files = Files are searched, too.
check-slack-no-files = Files are not searched, because the app lacks the scope { $scope }.
check-slack-installed =
    { $count ->
        [0] No workspace has installed the app yet.
        [one] One workspace has installed the app: { $names }.
       *[other] { $count } workspaces have installed the app: { $names }.
    }
check-slack-install = Install it at { $url }; Slack then leads back to { $back }.
check-slack-scopes =
    { $count ->
        [one] The Slack app lacks the scope { $names }
       *[other] The Slack app lacks the scopes { $names }
    }{ $team ->
        [none] {""}
       *[other] {" "}in { $team }
    }. Add what is missing under “OAuth & Permissions” at https://api.slack.com/apps (or paste adapters/slack/manifest.yaml under “App Manifest”), then install the app again.
check-slack-revoked = Slack no longer accepts the token of { $team }. Install the app there again at { $url }.
check-slack-token = Slack does not accept { $setting } ({ $code }). Copy it again from the page of your app at https://api.slack.com/apps.
check-slack-secret = SLACK_SIGNING_SECRET is not 32 hexadecimal digits. Copy the signing secret from “Basic Information” of your app at https://api.slack.com/apps.
check-slack-kind = { $setting } does not begin with { $beginning }, so it is another kind of token. Copy the right one from “{ $page }” of your app at https://api.slack.com/apps.
check-slack-away = Slack does not answer at { $url }. Check the network, or FOOTNOTE_SLACK_API_URL.
check-slack-socket-scope = SLACK_APP_TOKEN lacks connections:write. Make a new app-level token with it under “Basic Information” of your app at https://api.slack.com/apps.
check-slack-socket-off = Slack opens no Socket Mode connection ({ $code }). Switch Socket Mode on for your app at https://api.slack.com/apps.
check-console = `footnote serve` opens it on { $place }.
check-console-shut = But nobody can ask there.
check-console-list = { $setting } does not name the console: add { $id } to the list.
check-console-without = Without the console, set FOOTNOTE_CONSOLE=off.
check-console-off = Off. To ask in a browser, unset FOOTNOTE_CONSOLE.
check-console-closed = Closed, because others may reach it. To open it, set FOOTNOTE_CONSOLE_TOKEN or FOOTNOTE_OIDC_ISSUER.
check-sso =
    { $issuer } signs people in, with { $count ->
        [one] one key
       *[other] { $count } keys
    }. Register { $redirect } there as the redirect address.
check-sso-out = Register { $address } as the address after signing out.
kept-folder-gone = There is no folder { $path }.
kept-given = { $name } is already set outside of the console. Change it there.
kept-key-gone = Keys and tokens that were entered in the console cannot be decrypted: { $where } is missing, unreadable or another key. Put the right one back, or enter them again.
kept-key-none = Secrets are only kept encrypted. Set FOOTNOTE_ENCRYPTION_KEYS to a key that `footnote keys new` prints, and keep it apart from the database.
kept-key-unreadable = { $path } cannot be read ({ $why }).
kept-key-other = { $path } is not the key that { -brand } wrote there.
kept-key-unwritten = { $path } cannot be written ({ $why }).

# What services answer
api-of = The { $name } API
wiki-at = The wiki at { $host }
embeddings-endpoint = The embeddings endpoint
claude-search = Claude’s web search
search-late = It did not answer within { $seconds } s: try again later.
search-rate = { $title } takes no more requests at the moment: try again later.
search-down = { $title } is busy or down (HTTP { $status }): try again later.
search-redirect = { $title } redirects elsewhere, which is not followed: check { $place }.
search-refused = { $title } does not accept the request (HTTP { $status }).
search-access = { $title } refuses access: allow this machine there, or check { $place }.
search-key = { $title } does not accept its key: correct { $key }.
search-quota = The quota of { $title } is used up: raise the plan’s limit, or take the provider out of FOOTNOTE_PROVIDERS.
search-garbled = { $title } gave an answer that cannot be read: check { $place }.
search-slow = { $title } does not answer in time: try again later.
search-away = { $title } cannot be reached: check the network and { $place }.
service-other = { $host } does not answer as expected ({ $service }): check { $url }.
service-slow = { $model } took more than { $seconds } seconds to answer: try again, or set FOOTNOTE_MODEL_TIMEOUT higher.
service-away = { $host } cannot be reached, or the connection was cut: check the network and try again.
service-garbled = { $host } sent a reply that cannot be read: try again, or check { $url }.
service-unpaid = The account of { $key } cannot pay for this request: { $words }
service-key = { $key } was not accepted ({ $host }): { $words }. Correct the key or its rights.
service-unknown = { $host } knows no model { $model }: set { $setting } to one it knows.
service-nothing = { $host } has no { $protocol }: correct { $url } ({ $form ->
    [without] without /v1
   *[with] with /v1
 }).
service-busy = { $host } is busy and did not answer after { $count ->
    [one] one attempt
   *[other] { $count } attempts
 }: try again in a while.
service-trouble = { $host } has a problem of its own and did not answer after { $count ->
    [one] one attempt
   *[other] { $count } attempts
 }: try again in a while.
service-refused = { $host } refused a request for { $model }: { $words }
reading-service = The reading service { $name }
wiki-none = There is no MediaWiki API at { $url }: check { $place }.
wiki-login = { $title } may only be read after logging in.
wiki-refused = { $title } does not accept the request.
wiki-no-such = { $title } has no such page.
wiki-no-page = { $site } has no page called “{ $page }”.
wiki-no-article = { $url } is not an article of { $site }.
wiki-empty = The page “{ $page }” of { $site } has no text.
proxy-unconnected = The proxy { $proxy } does not connect to { $host } ({ $why }): check it, HTTPS_PROXY and NO_PROXY, and FOOTNOTE_CA_BUNDLE.
embeddings-quota = The quota of the key in { $key } is used up: raise it.
embeddings-unknown = { $title } does not know the address or the model { $model }: check { $place } and FOOTNOTE_EMBEDDINGS_MODEL.
brave-rate = Brave takes no more requests in this second: try again later, or set FOOTNOTE_BRAVE_RATE to what the plan allows.
searxng-json = SearXNG does not give results as JSON: add json to search.formats in its settings.yml and restart it.
searxng-silent = SearXNG found nothing, and these of its engines did not answer: { $names }. Check the state of its engines, or try again later.
service-toolless = { $model } cannot call tools, which research needs: set FOOTNOTE_MODEL to a model that can.
mcp-tool = Its tool { $tool } failed: { $words }
mcp-refused = It refused: { $words }
mcp-odd = It sent a result that is not of the form that it declares.
mcp-credentials = It does not accept our credentials (HTTP { $status }): correct headers or oauth in [[mcp]].
mcp-broke = The connection to it broke: try again later.
mcp-command = The command { $command } cannot be started: correct it in [[mcp]].
mcp-away = It cannot be reached, or does not speak the protocol.
mcp-no-search = It has no tool that searches: { $names }.
mcp-name-one = Name one in `search` of [[mcp]].
browser-none = { $place } names { $name }, which is not a program on this machine: install Chromium, or correct the name.
browser-sandbox = Chromium does not start with its sandbox here: run { -brand } as a user other than root where user namespaces are allowed, or, in a container that holds nothing else, set { $setting }=off.
browser-dead = Chromium ({ $name }) does not start: try it by hand, or correct { $place }.
sso-issuer = FOOTNOTE_OIDC_ISSUER is { $given }, but the provider calls itself { $its }: set it to that.
sso-lacks = The OpenID provider’s discovery document has no usable { $name }.
toml-invalid = { $path } is not valid TOML: { $why }. Correct it there.
toml-unusable = The collections or servers in { $path } cannot be used. `footnote doctor` says what is wrong.
rights-gone = { $path } with the collections is gone: put it back.
rights-twice = The collections { $first } and { $second } both have the path { $path }: leave it in one of them.
rights-nowhere = The collection { $name } has the path { $path }, where there is no file or folder: correct it.
rights-outside = The collection { $name } has the path { $path }, which is outside of the documents that are searched ({ $docs }): correct it, or add it to FOOTNOTE_DOCS.
