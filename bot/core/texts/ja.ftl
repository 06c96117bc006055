# Footnote の日本語メッセージ。ID と変数は en.ftl と同じ。ここにないものは英語で表示される。

-brand = Footnote

## While it works

working = 調査中…
queued =
    { $ahead ->
        [0] 順番待ちです。次がこの質問です。
       *[other] 順番待ちです。先に { $ahead } 件の質問があります。
    }
stopping = 停止しています…
stopped = 停止しました。
nothing-running = ここで実行中のものはないため、停止するものはありません。
stopping-count = { $count } 件の質問を停止しています…
edited-question = 質問が編集されました。もう一度回答しています…

## Steps of the plan

step-rewrite = 質問を理解しています
step-search = 検索中：{ $title }
step-read = 閲覧中：{ $title }
step-think = 考えています
step-plan = 調査を計画しています
step-draft = 下書きしています
step-revise = 見直しています
step-write = 回答を書いています
step-check = 脚注を確認しています
step-other = { $title }
step-searches = 検索 { $count } 回
step-pages = { $count } ページ
exhaustive-price =
    { $usd ->
        [-1] 最大で検索 { $searches } 回、{ $minutes } 分。費用は不明です。いつでも停止でき、それまでに見つかった内容を受け取れます。
       *[other] 最大で検索 { $searches } 回、{ $minutes } 分、費用は約 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 米ドルです。いつでも停止でき、それまでに見つかった内容を受け取れます。
    }
exhaustive-round = 検索 { $searches } 回（最大 { $most } 回）で { $facts } 件の事実が見つかりました
elapsed = { NUMBER($seconds, maximumFractionDigits: 0) } 秒経過
more-steps = ほか { $count } 件の手順

## Under the answer

sources-heading = 出典
more-sources = ほか { $count } 件の出典
preview-edited = その後、質問が編集されました。リンク先に新しい回答があります。
preview-sources = 出典 { $count } 件
text-given-by = { $name } さん提供のテキスト
answer-place-gone = 「{ $question }」への回答をその場所に投稿できなくなりました。チャンネルがアーカイブされたか、私がチャンネルから外されました。ここか別のチャンネルでもう一度質問してください。
answer-refused = Slack が「{ $question }」への回答を受け付けませんでした（{ $code }）。短い回答を依頼するか、ワークスペースの管理者に相談してください。
unverified = ⚠ 未確認：「{ $sentence }」（{ $reason }）
disagrees = ⚖ 出典が食い違っています：「{ $sentence }」に対し、[{ $number }] には「{ $quote }」とあります
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } 秒 · 検索 { $searches } 回 · { $pages } ページ閲覧{ $cost ->
        [0] { "" }
       *[other] { " · " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 米ドル
    }
summary = { $spent } · 実行 { $run }
details-button = 出典と調査の過程
partly-answered = ◐ 一部のみ回答しました。見つからなかったもの：{ $what }
doubts-counted = ⚠ { $count } 件の文は出典で裏付けられていません
disagreements-counted = ⚖ { $count } 件の文で出典が食い違っています
notes-counted = ⓘ 調査についての注記 { $count } 件
searched-for = 検索語：{ $queries }
follow-ups-heading = 次の質問の例

## Buttons

stop-button = 停止
dig-deeper = さらに詳しく調べる
feedback-good = 役に立った
feedback-bad = 役に立たなかった
feedback-thanks = ありがとうございます。評価をこの回答とともに保存しました。
feedback-ask-why = ありがとうございます。評価をこの回答とともに保存しました。どこに問題がありますか？
delete-answer = この回答を削除
delete-answer-ask = この回答をここから取り除き、質問と回答を保存データから削除します。元に戻すことはできません。
delete-answer-yes = 削除
delete-answer-no = キャンセル
delete-answer-not-yours = この回答を削除できるのは、質問した人だけです。

## When something is in the way

no-question = 何をお調べしますか？ メンションのすぐ後に質問を書くか、/ask を使ってください。
question-too-long = 質問が { $length } 文字あります。読めるのは { $most } 文字までです。短くするか、長い部分をファイルとして添付してください。
files-question = { $names } には何が書かれていますか？
failed = 最後まで調べられませんでした：{ $reason }
retry-button = もう一度試す
cannot-open-thread = ここでスレッドを作成する権限がないため、チャンネルで回答します。チャンネルの管理者が権限を付与できます。
cannot-read-history = ここの以前のメッセージを読めないため、直接質問された内容しか分かりません。チャンネルの管理者が権限を付与できます。
history-too-slow = ここの以前のメッセージを時間内に読めなかったため、直接質問された内容しか分かりません。後でもう一度質問するとうまくいくことがあります。
asked-by = { $name } さんの質問：{ $question }
question-of = { $name } さんからの質問
only-for-command = 私はここのメンバーではないため、コマンドにのみ、15 分間だけ回答できます。サーバーの管理者が招待できます。
answer-in-file = 回答が長く、ここのメッセージに収まりません。全文はファイルにあります。
answer-comes-directly = Discord でコマンドに回答できる 15 分を超えるため、回答はダイレクトメッセージでお送りします。
direct-closed = Discord でコマンドに回答できる 15 分を超えますが、ダイレクトメッセージをお送りできません。ダイレクトメッセージを許可して、もう一度質問してください。
only-for-minutes = 質問された場所のメンバーではないため、Discord ではコマンドに 15 分間しか回答できませんでした。それより時間がかかったため、ここで回答します。
only-so-many-messages = 質問された場所のメンバーではないため、Discord ではコマンドに対して数件のメッセージしか投稿できません。そのため、ここで回答します。
cannot-post = そのチャンネルに書き込む権限がありません。管理者が招待するか、権限を付与できます。
file-not-read = ファイル { $name } を読めませんでした：{ $reason }
file-gone = ファイル { $name } を読めませんでした。削除されています。
file-hidden = ファイル { $name } を読めませんでした。ワークスペースがプランの上限を超えているため、非表示になっています。
file-elsewhere = ファイル { $name } を読めませんでした。別のサービスに保存されています。ファイル自体を共有してください。
file-not-shown = ファイル { $name } を読めませんでした。ここからは見えません。もう一度共有するか、本文を貼り付けてください。
file-is-canvas = { $name } を読めませんでした。canvas やリストにはダウンロードできるファイルがありません。本文を貼り付けるか、エクスポートを共有してください。
link-not-read = { $url } を読めませんでした：{ $reason }
more-elsewhere = あなただけが見られる場所に、ほかにも見つかりました。ダイレクトメッセージで質問すると、そこも検索します。
more-elsewhere-here = { $channel } での質問について、そこの全員が読めるとは限らないチャンネルにほかにも見つかりました。ここで質問すると、そこも検索します。
documents-dated =
    { $after ->
        [none] { $before } まで
       *[other]
            { $before ->
                [none] { $after } 以降
               *[other] { $after } から { $before } まで
            }
    }
documents-narrowed = 検索した範囲：{ $only }
documents-unmatched =
    該当する文書がありません：{ $only }。{ $names ->
        [none] {""}
       *[other] 似た名前：{ $names }。
    }
documents-widened = 次の文書では何も見つかりませんでした：{ $only }。すべての文書を検索しました。
search-widened =
    { $domains ->
        [any] {""}
       *[other] { $domains } では、
    }{ $freshness ->
        [day] 過去 1 日の情報が見つからなかったため
        [week] 過去 1 週間の情報が見つからなかったため
        [month] 過去 1 か月の情報が見つからなかったため
        [year] 過去 1 年の情報が見つからなかったため
       *[any] 何も見つからなかったため
    }、制限なしで検索しました。
links-left-out = 1 回の回答の上限を超えるため、ほか { $count } 件のリンクは読みませんでした。
try-again = 保存できませんでした。しばらくしてからもう一度お試しください。
not-kept = 質問を保存できませんでした。1 分後にもう一度質問してください。
command-broke = うまくいきませんでした。1 分後にもう一度お試しください。
run-broke = 実行 { $run } で問題が発生しました。もう一度質問すると解決することがあります。解決しない場合は、実行番号を運用担当者に伝えてください。
question-gone = この質問はもうありません。もう一度質問してください。
suggestion-gone = この候補はもうありません。スレッドで質問してください。
answer-out-of-reach = この回答は、ここで読めない文書を使っているため表示できません。
words-out-of-reach = （表示できません：ここで読めない文書に基づいています）
documents-out-of-reach = { -brand } が回答している間に、文書へのアクセス権が変わりました。もう一度質問してください。
earlier-out-of-reach = このスレッドの以前の回答は、ここで検索できなくなった文書を使っているため、除外しました。
place-unknown = この種類のチャンネルでは回答できません。別のチャンネルで質問してください。
asked-already = この質問はすでに出されています。その回答を見るか、お待ちください。

## Who may ask

denied-workspace = このワークスペースでは { -brand } が有効になっていません。{ -brand } の管理者が有効にできます。
denied-channel = { -brand } はこのチャンネルでは回答しません。別のチャンネルを使うか、{ -brand } の管理者に許可を依頼してください。
denied-user = { -brand } に質問できる人のリストに含まれていません。{ -brand } の管理者が追加できます。
denied-role = { -brand } に質問するには別のロールが必要です。必要なロールの確認や許可は、{ -brand } の管理者に依頼してください。
denied-direct = { -brand } はダイレクトメッセージを受け付けていません。チャンネルで質問するか、{ -brand } の管理者に許可を依頼してください。
denied-console = コンソールからの質問は許可されていません。{ -brand } の運用担当者が { $setting } に { $id } を追加すると許可されます。
denied-console-roles = { $setting } はロールを持つ人だけを許可しますが、コンソールにはロールがありません。{ -brand } の運用担当者は、代わりに { $instead } で人を指定できます。
denied-guest = { -brand } はここではゲストに回答しません。{ -brand } の管理者が変更できます。
denied-unknown = ゲストかどうかを { -brand } が確認できませんでした。ここではゲストは質問できません。しばらくしてからもう一度質問してください。
denied-day-user = 本日の調査予算を使い切りました。UTC 00:00（{ $hours } 時間以内）から再び質問できます。
denied-day-channel = このチャンネルの本日の調査予算を使い切りました。UTC 00:00（{ $hours } 時間以内）から再びここで質問できます。
denied-day-workspace = このワークスペースの本日の調査予算を使い切りました。UTC 00:00（{ $hours } 時間以内）から再び質問できます。
denied-day-uploads = 1 人が 1 日に送れるファイルは { $limit } MB までで、これらのファイルを加えると超えてしまいます。UTC 00:00（{ $hours } 時間以内）から再び送れます。
denied-day-questions = 本日の質問数の上限（{ $limit } 件）に達しました。UTC 00:00（{ $hours } 時間以内）から再び質問できます。

## Rules of a channel

rules-title = このチャンネルでの { -brand } の回答方法
rules-line = { $key }：{ $value }
rules-none = このチャンネルには個別のルールがなく、全般の設定が適用されます。
rules-set = 設定しました。このチャンネルの { $key }：{ $value }
rules-reset = 設定しました。このチャンネルには再び全般の設定が適用されます。
rules-unknown = 「{ $key }」というルールはありません。設定できるもの：{ $known }
rules-invalid = 「{ $value }」は { $key } に使えません。使える値：{ $allowed }
rules-too-long = { $key } には長すぎます。{ $most } 文字までです。
rules-not-admin = ここでの回答方法を変更できるのは { -brand } の管理者だけです。
rules-help = { $show } でこのチャンネルのルールを表示、{ $set } で 1 つを変更（{ $keys }）、{ $reset } で全般の設定に戻します。
searched-title = { -brand } がここで検索するもの
searched-providers = 検索エンジン：{ $names }
searched-collection = 文書「{ $name }」：{ $why }
searched-why-everybody = 質問できる人全員
searched-why-channels = このチャンネルで検索できます
searched-why-people = あなたが検索できます
searched-why-slack-groups = あなたのユーザーグループが検索できます
searched-why-discord-roles = あなたのロールで検索できます
searched-why-console-users = あなたが検索できます
searched-why-console-groups = あなたのグループが検索できます
searched-others = コレクションに属さない文書：質問できる人全員
searched-all = インデックス済みのすべての文書：質問できる人全員
searched-not = ほかに { $count } 件の文書コレクションがありますが、ここでは検索しません。
searched-guest = 文書は検索しません。ゲストのためにも、外部の人が読める場所でも検索しません。
searched-unusable = 文書は検索しません。{ -brand } の運用担当者が設定のコレクションを修正する必要があります。

## Standing questions

watch-changed = { $since } 以降の変更点
watch-now = 現在：
watch-before = 以前：
watch-over = { $days } 日間、ここで誰もこの質問を開いたり返信したりしなかったため、確認を終了しました：{ $question }
watch-begun = { $schedule }確認し、回答が変わったときだけここに投稿します。ID は { $id } です。
watch-pressed = ウォッチ中：回答が変わったらここに投稿します。
watch-pressed-daily = 毎日ウォッチ中：回答が変わったらここでお知らせします。
watch-pressed-weekly = 毎週ウォッチ中：回答が変わったらここでお知らせします。
watch-badge =
    { $schedule ->
        [daily] 毎日ウォッチ中
        [weekly] 毎週ウォッチ中
        [paused] ウォッチ一時停止中
        [ended] ウォッチ終了
       *[other] ウォッチ中
    }
watch-daily = 毎日
watch-weekly = 毎週
watch-cron = スケジュール「{ $schedule }」（UTC）で
watch-line = { $id }：{ $question }（{ $schedule }、{ $state }）
watch-due = 次回の確認：{ $due }
watch-paused = 一時停止中
watch-ended = 終了
watch-looked = 、前回の確認 { $looked }：{ $outcome }
watch-outcome-same = 変更なし
watch-outcome-changed = 回答が変わりました
watch-outcome-no-answer = 回答が見つかりませんでした
watch-outcome-budget = その日の予算を使い切っていました
watch-outcome-refused = その場所で質問や投稿ができなくなりました
watch-none = ウォッチ中の質問はまだありません。
watch-unknown = ID { $id } のウォッチ中の質問はありません。
watch-too-many =
    { $most ->
        [0] ここでは質問をウォッチできません。
       *[other] すでに上限の { $most } 件をウォッチしています。先にいずれかを終了してください。
    }
watch-schedule-unknown = 「{ $schedule }」はスケジュールとして使えません。daily（毎日）、weekly（毎週）、または "0 9 * * 1-5" のような 5 項目の cron 式（UTC）を使ってください。
watch-schedule-too-often = 「{ $schedule }」は頻度が高すぎます。確認の間隔は 1 時間以上空けてください。
watch-done-pause = 一時停止しました：{ $question }
watch-done-resume = 確認を再開しました：{ $question }
watch-done-stop = 確認を終了しました：{ $question }
watch-help = { $command } daily 質問：質問をウォッチします（daily、weekly、または引用符で囲んだ cron 式）。{ $command }：ウォッチ中の質問を一覧表示します。{ $command } pause ID、resume ID、stop ID：変更します。
watch-button = ウォッチする
watch-description = 質問をウォッチし、回答が変わったら通知を受け取ります。質問なしなら一覧を表示します
watch-name = ウォッチ
watch-question = ウォッチする質問。空欄にすると一覧を表示します
watch-every = 確認の頻度：daily、weekly、または cron 式（UTC）
watch-id = 変更する質問の ID
watch-action = 行う操作
watch-pause = 一時停止
watch-resume = 再開
watch-stop = 終了
watch-heading = ウォッチ中の質問
watch-why = 最後の質問を毎日もう一度調べ、回答が変わったらここに投稿します。
watch-intro = これらの質問はスケジュールに従ってもう一度調べられます。回答が変わると、その会話でお知らせします。追加するには、会話で「ウォッチする」を選んでください。
watch-manage = 「{ $question }」を変更

correction-noted = 記録しました：{ $said }
correction-noted-on = 「{ $question }」について記録しました：{ $said }
correction-not-kept = この訂正は保存しませんでした。取り消されたか、1 日にすでに { $most } 件の訂正がありました。
correction-guest = Footnote は、ゲストからの訂正や、ほかの会社と共有しているチャンネルでの訂正は保存しません。
correction-title = { $name } さんによる訂正、{ $when }
correction-title-own = あなたによる訂正、{ $when }
correction-of = 次の質問への回答の訂正：{ $question }
correction-remove = 取り除く
correction-removed = 取り除きました。今後の回答では使いません。
correction-unknown = ID { $id } の訂正はありません。
correction-not-yours = 訂正を取り除けるのは、その作成者か管理者だけです。
correction-heading = 訂正
correction-begin = 訂正する
correction-say = 正しくはどうですか？ 今後の質問で出典として使われます。
correction-intro = 回答の誤りとして指摘された内容です。今後の回答で出典として使います。
correction-none = 訂正はまだありません。回答に誤りを指摘して返信すると、訂正がここに表示されます。

## Being forgotten

forget-ask = あなたのメッセージ { $messages } 件と、あなたへの回答 { $answers } 件を、そのために見つけた内容とともに保存しています。すべてのチャンネルについて、これらをすべて削除できます。元に戻すことはできません。ここに投稿された内容は、誰かが削除するまで残ります。続けるには：{ $command }
forget-nothing = あなたが書いた内容は何も保存していません。
forget-done =
    { $messages ->
        [0] 完了しました。あなたが書いた内容は何も保存していません。
       *[other] 完了しました。あなたのメッセージ { $messages } 件と、あなたのために見つけた内容を削除しました。
    }チャットに投稿された内容は、誰かが削除するまで残ります。
forget-help = { $command }：あなたが書いた内容の保存分を削除します。

## Home

home-title = 質問すると、確かめられる回答が得られます
home-intro = { -brand } は検索してページを読み、すべての主張に脚注を付けて回答します。
home-how = 質問のしかた
home-how-mention = 私がいるチャンネルで、質問を添えてメンションしてください。
home-how-direct = 直接メッセージを送ってください。メンションは不要です。
home-how-follow-up = スレッドに返信すると、続けて質問できます。そこでの会話を覚えています。
home-how-command = 私がいるチャンネルで /ask を使ってください。
home-how-shortcut = メッセージのメニューから「これを調べる」を選んでください。
home-how-stop = 「停止」を押すか、「stop」と書いてください。
home-connected = 接続済み
home-reasoner = 回答に使用：{ $name }
home-providers = 検索に使用：{ $names }
home-documents = ローカル文書 { $count } 件
home-usage = 今月
home-questions = 質問 { $count } 件
home-answered = 回答済み { $count } 件
home-cost = 費用 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } 米ドル

## Commands

ask-description = 質問を調べ、脚注付きの回答を得ます
ask-question = 知りたいこと
ask-question-or-form = 知りたいこと。空欄にすると、広い入力フォームを開きます
ask-file = 質問と一緒に読むファイル
ask-depth = 調査の深さ
depth-auto = 自動
depth-quick = クイック：検索 1 回
depth-standard = 標準：検索して読む
depth-deep = 詳細：時間をかけて多く読む
depth-exhaustive = 網羅：すべてを探す（検索は最大 150 回）
depth-tag-quick = クイック
depth-tag-deep = 詳細
depth-tag-exhaustive = 網羅
stop-description = ここで実行中の調査を停止します
rules-description = このチャンネルでの Footnote の回答方法を表示、変更します
shortcut-name = これを調べる
shortcut-check-name = 事実を確認
command-accepted = 調べます：{ $question }
only-me-accepted = あなただけが見られるダイレクトメッセージで回答します。
only-me-refused = ダイレクトメッセージを送れないため、あなただけに回答することはできません。
stop-name = 停止
forget-name = 私を忘れて
forget-description = あなたが書いた内容の保存分を確認し、削除します
forget-confirm = 削除するには「はい」を選んでください。元に戻せません
forget-yes = はい、削除します
ask-name = 質問
rules-show-description = このチャンネルでの Footnote の回答方法を表示します
rules-set-description = このチャンネルでの Footnote の回答方法を 1 つ変更します
rules-reset-description = このチャンネルを全般の設定に戻します
rules-key = 設定する項目
rules-value = 設定する値

## The pane beside the conversation

prompts-title = 例
document-asked-about = 「{ $title }」の要点は何ですか？
prompt-compare = 2 つのものを比べる
prompt-compare-message = ヒートポンプとガスボイラーは、費用と排出量でどう違いますか？
prompt-explain = 新しいことを説明してもらう
prompt-explain-message = Python の最新版の新機能は何ですか？ なぜ重要ですか？
prompt-summarize = ページを要約する
prompt-summarize-message = https://ja.wikipedia.org/wiki/引用 を 5 つの要点に要約してください。

## Remarks under an answer

budget-model-calls = モデル呼び出しの予算（{ NUMBER($limit, useGrouping: 0) } 回）を使い切りました。
budget-input-tokens = 入力トークンの予算（{ NUMBER($limit, useGrouping: 0) }）を使い切りました。
budget-usd = 予算（{ NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 米ドル）を使い切りました。
budget-seconds = 制限時間（{ NUMBER($limit, maximumFractionDigits: 0) } 秒）を使い切りました。
budget-searches = 検索の予算（{ NUMBER($limit, useGrouping: 0) } 回）を使い切りました。
budget-pages = 閲覧の予算（{ NUMBER($limit, useGrouping: 0) } ページ）を使い切りました。
budget-output-tokens = 出力トークンの予算（{ NUMBER($limit, useGrouping: 0) }）を使い切りました。
budget-day-user = あなたの本日の予算（{ NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 米ドル）を使い切りました。
budget-day-channel = このチャンネルの本日の予算（{ NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 米ドル）を使い切りました。
budget-day-workspace = このワークスペースの本日の予算（{ NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 米ドル）を使い切りました。
rests-on-found = 回答は、それまでに見つかった内容に基づいています。
quoted-without-model = モデルを使わずに検索し、引用しました。
closest-passages = 最も近い箇所
closest-none-documents = お使いの文書には記載がありません。
closest-none = 見つかったものの中に、この質問の答えはありません。
closest-nearest = 最も近いページ：{ $pages }
validity-draft = 下書き
validity-deprecated = 廃止予定
validity-archived = アーカイブ済み
validity-ended = { $words } まで有効
validity-early = { $words } から有効
validity-replaced =
    { $words ->
        [none] 置き換え済み
       *[other] { $words } に置き換え済み
    }
closest-greeting = 質問すると、見つかった最も近い箇所を、それぞれ脚注を付けて引用します。
judged-unknown = 判定：文書に { $names } への言及がありません
judged-open = 判定：質問が何についてのものか示されていません
judged-share = 判定：最も近い箇所は質問の { $covered }% に対応しています（{ $enough }% が必要）
stopped-before-complete = 回答が完成する前に停止しました。
answer-cut = この回答は { NUMBER($limit, useGrouping: 0) } トークンの上限で途切れました。内容を絞るか、続きを依頼してください。
research-outgrown = モデルのコンテキストウィンドウに収まらなくなったため、調査を終了しました。
part-failed = 「{ $question }」を調べられませんでした：{ $reason }
model-away = 現在モデルに接続できません。理由は管理者が確認できます。
model-declined = モデルがこの質問への対応を断りました。別の聞き方をしてください。
model-unusable = モデルの返答を使えませんでした。もう一度試すか、内容を絞ってください。
peer-away = 必要なサービスに現在接続できません。理由は管理者が確認できます。
peer-refused = 必要なサービスが要求を拒否しました。理由は管理者が確認できます。
reply-unusable = サービスの返答を使えませんでした。
documents-unindexed = { $count } 件の文書がまだインデックスされておらず、検索できませんでした。完了後にもう一度質問してください。
documents-failed = 次のファイルを読めませんでした：{ $names }。
documents-partly = 一部を読めませんでした：{ $names }。
documents-unread = ここの { $files } 件のファイルのうち { $count } 件は、読み取りに対応していない種類です（{ $kinds }）。
queries-withheld = 文書や回答の言葉を含むため、一部の検索語はウェブに送信しませんでした。実行のページで確認できます。
search-unanswered = 検索サービス { $names } が応答しませんでした。
page-away = ページに接続できません。後でもう一度お試しください。
page-refused = プログラムによる読み取りが許可されていません。ご自身で開き、本文を貼り付けてください。
page-unreadable = 読み取れる文字がありません。本文を貼り付けてください。
picture-too-large = 画像が { $limit } MB を超えています。小さくして送ってください。
picture-too-wide = 画像の幅か高さが { $limit } ピクセルを超えています。小さくするか、必要な部分だけを送ってください。
picture-damaged = 画像が壊れています。もう一度送ってください。
picture-too-many = 1 つの質問で読める画像は { $limit } 枚までです。残りは次の質問と一緒に送ってください。
picture-nothing = モデルは画像から何も読み取れませんでした。何が写っているかを書いてください。
picture-no-model = 画像はモデルがある場合にのみ読み取れます。何が写っているかを書いてください。
picture-no-sight = モデル { $model } は画像を読み取れません。何が写っているかを書いてください。
month-day = { $month } 月 { $day } 日
day = { $year } 年 { $date }
picture-sent = { $name } さんが { $date }に送った画像
picture-sent-earlier = { $name } さんが送った画像
price-unknown = { $model } の価格が不明なため、その費用は合計に含まれていません。
asked-here = ここ
asked-elsewhere = 別のチャンネル
asked-there = { $place }
asked-earlier = { $date }に{ $where }で出された質問：「{ $question }」
verify-changed =
    { $corrected ->
        [0] { $left } 件の文は出典と矛盾していたため、削除しました。
       *[other] { $left ->
            [0] { $corrected } 件の文は出典で裏付けられなかったため、修正しました。
           *[other] 出典で裏付けられなかった文のうち、{ $corrected } 件を修正し、{ $left } 件を削除しました。
        }
    }
doubt-contradicted = 脚注と矛盾しています
doubt-no-footnote = 脚注がありません
doubt-not-covered = 脚注にはそのように書かれていません
doubt-not-quoted = 脚注にありません：{ $facts }

## Reports

# Verdicts on the statements of a text
check-none = このテキストには確認できるものがありません。数字、日付、名前などの事実が含まれていません。
check-counts = 見つかった内容と照合しました：{ $counts }。
check-count-supported = 裏付けあり { $count } 件
check-count-partly = 一部裏付けあり { $count } 件
check-count-contradicted = 矛盾 { $count } 件
check-count-nothing = 情報なし { $count } 件
check-count-uncheckable = 確認不可 { $count } 件
check-supported = 裏付けあり
check-partly = 一部裏付けあり
check-contradicted = 矛盾
check-nothing = 情報なし
check-uncheckable = 確認不可
check-unsaid = 出典にないもの：{ $words }
check-needs-model = テキストの内容を確認するには言語モデルが必要です。

report-limits = 見つからなかったもの
report-dropped = 取り上げられなかったもの：{ $topics }。
report-separator = 、
report-cut-short = レポートのうち、その時点で未確認だった部分は省きました。
report-not-drafted = レポートを下書きできなかったため、通常の回答になっています。
report-not-sourced = レポートのどの部分も出典と照合できなかったため、通常の回答になっています。
report-omitted-missed = 「{ $name }」は、確認する時間がなかったため省きました。
report-omitted-failed = 「{ $name }」は、確認できなかったため省きました。
report-omitted-nothing = 「{ $name }」は、照合できるものが見つからなかったため省きました。
report-cut = ⚠ この部分は { NUMBER($limit, useGrouping: 0) } トークンの上限で途切れました。
report-stage =
    { $stage ->
        [draft] 下書き
        [query] 検索内容の決定
        [reading] 検索と閲覧
       *[revision] 見直し
    }（{ NUMBER($seconds, maximumFractionDigits: 1) } 秒以内）
report-stage-missed = 時間内に終わりませんでした
report-stage-nothing = 何も見つかりませんでした
report-left-out = 省略
report-part = 第 { $number } 部
report-unsourced = どの出典とも照合していません：{ $name }
report-deleted = 裏付ける出典がないため省略：{ $name }
report-revised = { $pages } ページと照合して見直し、下書きの { $kept }% を維持：{ $name }

## The web console

web-ask = 質問
web-overview = 概要
web-handbook = ハンドブック
web-places = メインメニュー
web-skip = 本文へ移動
web-threads = 会話
web-no-threads = 会話がここに表示されます。
web-new = 新しい質問
web-follow-up = 続けて質問する…
web-question = 何を知りたいですか？
web-no-question = 質問を言葉で書いてください。
web-depth = 深さ
web-send = 質問する
upload-files = ファイル
upload-attach = ファイルを添付
upload-drop = ファイルをドロップして質問
upload-remove = { $name } を外す
upload-empty = ファイル { $name } は空です。別のファイルを選んでください。
upload-too-large = ファイル { $name } は { $limit } MB を超えています。小さいファイルを選ぶか、必要な部分を貼り付けてください。
upload-all-too-large = 一度に { $limit } MB を超えています。ファイルの数を減らすか、小さいファイルを送ってください。
upload-too-many = 一度に送れるファイルは { $limit } 件までです。残りはその後に送ってください。
upload-unreadable = ファイル { $name } を読めません。パスワードのないテキスト、Markdown、HTML、PDF、Word、PowerPoint、Excel、OpenDocument、EPUB、CSV と、PNG、JPEG、WebP、GIF の画像を読めます。
upload-gone = このファイルはもうありません。もう一度添付してください。
upload-without = まだ送信していません。もう一度送信すると、このファイルなしで質問します。
web-enter = Enter で送信
web-graph = 個々の問いとその依存関係
web-state-waiting = 待機中
web-state-running = 実行中
web-state-done = 完了
web-state-failed = 失敗
web-ready = 回答ができました。
web-indexing = 文書をインデックスしています：{ $total } 件中 { $done } 件のファイルが検索できます。
web-lost = 接続が切れました。再接続しています…
web-unsent = 送信できませんでした。もう一度お試しください。
web-resending = 質問はまだ送信されていません。再試行しています…
web-how = この回答はどのように得られましたか？
web-source = 出典 { $number }
web-quotes = 引用 { $count } 件
web-quote = 引用 { $number }
web-in-the-page = ページ内で表示
web-sources-count = 出典（{ $count }）
web-closest = お使いの文書の中で最も近い箇所
web-closest-why = 回答ではなく引用です。言語モデルは読んでいません。
web-closest-has = 含まれる語：{ $words }
web-closest-has-none = 質問の語を含みません
web-closest-open = この箇所を開く
web-closest-lacking = どの箇所にもない語：{ $words }
web-searched = 検索語：{ $words }
web-copy-code = コードをコピー
web-footnote-before = 前の脚注
web-footnote-after = 次の脚注
web-source-close = 出典を閉じる
web-run-said = モデルの返答
web-read-at = 閲覧日時
web-copy = Markdown としてコピー
web-copied = コピーしました。
web-copy-this = コピー
web-more = この質問のその他の操作
web-edit = 質問を編集
web-edit-send = 保存
web-cancel = キャンセル
web-regenerate = 回答を作り直す
web-delete = 質問と回答を削除
web-delete-sure = 削除しますか？ 元に戻すことはできません。
web-newest = 最新へ
web-not-answered = 質問に回答できませんでした。
web-show-all = すべて表示
web-show-less = 折りたたむ
web-failed = 問題が発生しました
web-not-found = このページは存在しません
web-not-found-why = アドレスが間違っているか、内容が削除された可能性があります。
web-back = トップページに戻る
web-failed-why = この操作はここではできません。前に戻り、ページのボタンやリンクを使ってください。
web-broke = これは { -brand } の不具合で、操作の誤りではありません。ログに記録しました。もう一度試すと解決することがあります。解決しない場合は、参照番号 { $reference } を運用担当者に伝えてください。
web-form-unreadable = フォームの内容がすべて届きませんでした。前に戻って、もう一度送信してください。
web-too-large = 大きすぎて送信できません（{ $most }を超えています）。
web-send-as = 種類が正しくありません。{ $kind } として送信してください。
web-not-json = 正しい JSON ではありません。
web-depth-unknown = その深さはありません。メニューから選んでください。
web-starting = { -brand } は起動中または終了中です。しばらくしてからもう一度お試しください。
web-files-again = ファイルをもう一度選んでください
web-for-operators = このページを見られるのは { -brand } の運用担当者だけです。
web-handbook-gone = ハンドブックにそのページはありません。
web-too-many-streams = 同時に開いているページが多すぎます。いくつか閉じてください。
refused-tries = 誤った試行が多すぎます。1 分待ってから、もう一度お試しください。
refused-requests = 1 分間のリクエストが多すぎます。少し待ってから、もう一度お試しください。
refused-token = このトークンは正しくありません。正しいトークンは FOOTNOTE_CONSOLE_TOKEN にあります。
refused-sign-in = 先にログインしてください。プログラムはトークンを「Authorization: Bearer」で送ります。
refused-unknown = 今はあなたが誰かを確認できません。しばらくしてからもう一度お試しください。
refused-several = ヘッダー { $header } がちょうど1 人を指していません。
refused-by-proxy = ログインしていません。ログインを行うプロキシ経由でコンソールを開いてください。
refused-host = コンソールは { $host } という名前では登録されていません。運用担当者は、利用者がアクセスするアドレスを FOOTNOTE_PUBLIC_URL に設定できます。
refused-path = これはコンソールのパスではありません。
refused-cookie = ブラウザーがクッキーを 2 回送信しました。ページを再読み込みしてください。
refused-site = このリクエストは別のサイトから来ました。コンソールを直接開いてください。
refused-elsewhere = このコンソールは、動いているマシン上で http://127.0.0.1 からのみ使えます。
refused-open-proxy = プロキシの背後では、コンソールに FOOTNOTE_CONSOLE_TOKEN が必要です。
web-sign-in = ログイン
web-sign-in-why = コンソールのトークンを一度入力してください。運用担当者から入手できます。
web-sign-out = ログアウト
web-sign-out-here-why = 会話は残ります。このブラウザーでは、次回もう一度トークンが必要です。
web-sign-out-here = このブラウザーからログアウト
web-sign-out-all-why = 離れた人がトークンを知っている場合は、新しいトークンも設定してください。
web-sign-out-all = すべてのブラウザーからログアウト
web-token = トークン
web-token-wrong = トークンが違います。ご確認ください。
sso-failed = ログインしていません
sso-again = もう一度試す
sso-signed-out = ログアウトしました
sso-leaving = Footnote からログアウトしました。続いて、ログインサービスからもログアウトします。
sso-leave = 続ける
sso-signed-in-as = { $name } としてログインしています。会話は残ります。
sso-sign-out-all-why = すべてのブラウザーのセッションを終了します。
sso-away = 現在ログインサービスに接続できません。しばらくしてからもう一度お試しください。
sso-denied = ログインサービスがログインを許可しませんでした：{ $reason }
sso-stale = ログインに時間がかかりすぎたか、別のブラウザーで開始されました。もう一度お試しください。
sso-not-allowed = お使いのアカウントではこのコンソールを利用できません。管理者に利用を依頼してください。
sso-nameless = ここで人を識別するクレーム「{ $claim }」に、ログインサービスから使える値が届きませんでした。管理者が修正できます。
sso-refused = ログインサービスの応答を信頼できません。理由は管理者がログで確認できます。
web-thread-gone = この会話はもうありません。
web-too-many-questions = 1 分間の質問が多すぎます。少し待ってから、もう一度質問してください。
web-was-stop = ここには停止するものがありません。作成中の回答を停止するには、その下の「停止」を押してください。
web-not-here = この質問はチャットで出されたものです。そちらで続けてください。
web-not-yours = この質問を変更できるのは、質問した人だけです。

## The console: asking

web-plan-nodes = 調査 { $total } 件中 { $done } 件完了
web-plan-parts = { $total } 件中 { $done } 件完了
web-plan-searched =
    { $count ->
        [0] 検索結果はまだありません
       *[other] { $count } 回検索しました
    }
web-plan-read =
    { $count ->
        [0] まだページを読んでいません
       *[other] { $count } ページ読みました
    }
web-plan-unread = { $count } 件は読めませんでした
web-plan-nothing-yet = まだ何も見つかっていません。
web-plan-done = 調査時間 { NUMBER($seconds, maximumFractionDigits: 1) } 秒
web-plan = 計画
web-plan-node = 調査中：{ $title }
web-plan-part = 作業中：{ $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } 秒

### What a question searches

web-sources-asked = { $all } 件中 { $asked } 件の情報源を検索
web-sources-which = この質問で検索する情報源
web-sources-one = 検索先：
web-sources-nothing = 検索できる情報源がありません。
web-sources-none = 検索する情報源を 1 つ以上選んでください。
web-source-other-documents = その他の文書
web-source-web = ウェブ
web-source-count = 文書 { $count } 件
prompt-wiki-building = エッフェル塔は誰が設計しましたか？ 高さはどれくらいですか？
prompt-wiki-nature = 空はなぜ青いのですか？
prompt-wiki-history = 活版印刷はいつ、誰が発明しましたか？

### Preferences and keys

web-prefs = 設定
web-prefs-keep = 保存
web-theme = 外観
web-theme-system = システムに合わせる
web-theme-light = ライト
web-theme-dark = ダーク
web-language = 言語
web-language-browser = ブラウザーに合わせる
web-language-partly = { $name }（一部）
web-zone = タイムゾーン
web-zone-browser = ブラウザーに合わせる
web-zone-why = すべてのページの日時をこのタイムゾーンで表示します。
web-speak = 質問を音声で入力
web-speak-failed = マイクを使用できませんでした。
web-keys = キーボードショートカット
web-key-send = 質問を送信
web-key-line = 改行
web-key-box = 質問欄へ移動
web-key-mark = 次の脚注、リンク、ボタンへ移動
web-key-close = 引用、メニュー、この一覧を閉じる
web-key-keys = この一覧を表示

## The pages that explain a run

web-you = あなた
web-run-asked = { $name } さんの質問 · { $place }
web-run-conversation = 会話を表示
web-run-understood = 質問の解釈：
web-run-sections = このページの内容
web-run-working = Footnote が作業中です。このページは随時更新されます。
web-run-pruned = この実行の手順は、保存期間を過ぎたため削除されました。残っているのは回答だけです。
web-run-state-accepted = 待機中
web-run-state-running = 実行中
web-run-state-answered = 回答済み
web-run-state-partial = 一部回答
web-run-state-not-found = 見つからず
web-run-state-failed = 失敗
web-run-state-stopped = 停止
web-run-state-removed = 削除済み
web-run-step-waiting = 待機中
web-run-step-running = 実行中
web-run-step-done = 完了
web-run-step-failed = 失敗
web-run-took = 質問から回答まで
web-run-worked = 作業時間
web-run-depth = 深さ
web-run-depth-auto = 自動
web-run-depth-quick = クイック
web-run-depth-standard = 標準
web-run-depth-deep = 詳細
web-run-depth-exhaustive = 網羅
web-run-reasoner = 回答に使用
web-run-searches = 検索
web-run-pages-read = 読んだページ
web-run-calls = モデル呼び出し
web-run-tokens-in = 入力トークン
web-run-tokens-cached = キャッシュ済みトークン
web-run-tokens-out = 出力トークン
web-run-cost = 費用
web-run-attempts = 試行回数
web-run-feedback = 評価
web-run-answer = 回答を一文ずつ見る
web-run-answer-hint = それぞれの文の横に、裏付けとなる箇所を示します。番号を選ぶと、読んだときのページが開きます。
web-run-more-quotes = これらのページのほかの箇所 { $count } 件
web-run-disagrees = ただしページ [{ $number }] では
web-run-not-verbatim = 保存されたページの文言と一致しません
web-run-page-gone = 保存されたページはもうありません
web-run-checks = 確認結果
web-run-check-quotes = 引用 { $all } 件中 { $good } 件が、保存されたページと一字一句一致しています。
web-run-check-cited = 文、見出し、注記 { $all } 件中 { $cited } 件に脚注があります。
web-run-check-no-doubt = すべての数字、日付、名前が出典にありました。
web-run-check-verifying = 小型モデルが文と引用を照合しています。
web-run-check-verified = 小型モデルの判定では、脚注付きの文 { $all } 件中 { $good } 件が引用で裏付けられています。
web-run-check-not-verified = 小型モデルは文を確認できませんでした：{ $problem }
web-run-verdicts = 各文に対する小型モデルの判定
web-run-verdicts-hint = 脚注付きの文を、その文が引く引用とともに渡して判定しました。
web-run-verdict-supported = 裏付けあり。
web-run-verdict-partly = 一部裏付けあり。
web-run-verdict-not-supported = 裏付けなし。
web-run-verdict-contradicted = 矛盾しています。
web-run-verdict-words = 引用にない語句：「{ $words }」。
web-run-verdict-marked = 回答で印を付けました。
web-run-verdict-left-out = 削除しました。
web-run-verdict-restated = 現在の回答：
web-run-check-missing = 見つからなかったもの：{ $what }
web-run-graph = 個々の問い
web-run-steps = タイムライン
web-run-step = 手順
web-run-seconds = 時間
web-run-tokens = トークンと費用
web-run-paused = 途中の { $seconds } は何も行われていません。図ではこの時間を縮めています。
web-run-waited = { $seconds } 待機：{ $lines }
web-run-attempt = 試行 { $number } 回目
web-run-thinking = 思考の過程
web-run-search-summary = { $hits } 件ヒット、{ $read } 件閲覧 · { NUMBER($seconds, maximumFractionDigits: 2) } 秒
web-run-for = 対象：{ $line }
web-run-hit-read = 閲覧済み
web-run-hit-failed = 読めませんでした
web-run-hit-left = 未閲覧
web-run-hits-left = 読まなかった結果 { $count } 件
web-run-pages = ページ
web-run-read-at = 閲覧日時
web-run-whole-page = 全文、{ $count } 文字
web-run-not-quoted = 引用した部分はありません。
web-run-gap = { $count } 文字省略
web-run-revisions = 下書きから見直しまで
web-run-revisions-hint = 各部分はまず記憶から下書きし、そのために読んだページと照合して直します。赤は削除、緑は追加した部分です。
web-run-fate-revised = 見直し済み
web-run-fate-unsourced = 省略
web-run-fate-deleted = 省略
web-run-queries = 検索語：
web-run-draft = 下書き
web-run-revision = 見直し後
web-run-back = 回答の過程
web-original = 元のファイルを開く
web-original-gone = ファイルはもうありません。
web-run-page-hint =
    { $count ->
        [0] 読んだときのページです。引用した部分はありません。
       *[other] 読んだときのページです。引用した { $count } か所に印を付けています。
    }
web-history-today = 今日
web-history-yesterday = 昨日
web-history-pinned = ピン留め
web-history-older = 以前の会話
web-history-all = すべての会話
web-history-find = 会話を検索
web-history-search = 検索
web-history-questions = 質問 { $count } 件
web-history-found =
    { $count ->
        [0] 「{ $words }」を含む会話はありません。
       *[other] 「{ $words }」を含む会話が { $count } 件あります。
    }
web-history-manage = { $name } を管理
web-history-select = { $name } を選択
web-history-select-all = このページのすべてを選択
web-history-delete-chosen = 選択したものを削除
web-history-delete-several = { $count } 件の会話を削除しますか？
web-history-delete-several-why = 質問、回答、ファイルが完全に削除され、リンクも使えなくなります。
web-history-name = 会話の名前
web-history-rename = 名前を変更
web-history-pin = 一覧の先頭にピン留め
web-history-unpin = ピン留めを外す
web-history-delete = 会話を削除
web-history-delete-sure = 完全に削除
web-history-more = この会話のその他の操作
web-did-rename = 名前を変更しました。
web-did-pin = 一覧の先頭にピン留めしました。
web-did-unpin = ピン留めを外しました。
web-did-share = リンクをコピーできます。
web-did-unshare = リンクは使えなくなりました。
web-share = 共有
web-share-why = このコンソールを利用でき、この会話のすべての出典を読める人が、リンクを開けます。
web-share-begin = リンクを作成
web-share-end = リンクを無効にする
web-share-copy = リンクをコピー
web-share-copied = リンクをコピーしました。
web-share-is = 共有中
web-share-read-only = 共有された会話です。読むことはできますが、変更はできません。
web-share-out-of-reach = 読む権限のない文書を使っているため、この会話は表示できません。
web-export = エクスポート
web-export-pdf = 印刷または PDF
web-export-html = HTML ファイル
web-export-md = Markdown
web-export-bib = 出典（BibTeX）
web-export-csl = 出典（CSL-JSON）
web-export-made = エクスポート日時
feedback-why = どこに問題がありますか？
feedback-wrong = 間違っている
feedback-incomplete = 不完全
feedback-bad-source = 出典がよくない
feedback-outdated = 情報が古い
feedback-words = ご意見（任意）
feedback-send = 送信
web-overview-sum =
    { $days ->
        [1] 今日
       *[other] 過去 { $days } 日間
    }：{ $people } 人から { $questions } 件の質問、{ $unanswered ->
        [0] 未回答なし
       *[other] 未回答 { $unanswered } 件
    }{ $cost ->
        [0] { "" }
       *[other] 、費用 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 米ドル
    }。
web-overview-pace =
    回答の半数は { $median } 以内{ $cost ->
        [0] { "" }
       *[other] 、1 件あたりの費用は平均 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 米ドル
    }でした。
web-overview-judged = 読者の評価：役に立った { $good } 件、役に立たなかった { $bad } 件。
web-overview-now = 現在：実行中 { $running } 件、待機中 { $waiting } 件。
web-overview-answered = 回答済み
web-overview-unanswered = 未回答
web-overview-times = { $count } 回質問
web-overview-unanswered-why = 情報源に記載がないか、一部しかありません。
web-overview-add-search = 情報源の接続方法
web-overview-more-unanswered = 未回答の質問をすべて表示
web-overview-complaints = 読者が指摘した問題
web-overview-no-complaints = 「役に立たなかった」と評価された回答はありません。
web-overview-more-feedback = 評価をすべて表示
web-overview-by-channel = 質問された場所
web-overview-by-collection = 回答が引用する文書
web-overview-collection = コレクション
web-overview-answers-quote = 回答
web-overview-documents-quoted = 文書
web-overview-no-collection = コレクションなし
web-unanswered = 未回答の質問
web-unanswered-why = 質問されたものの、情報源に記載がないか一部しかない内容です。それが書かれた文書を追加するか、情報源を接続してください。同じ言葉の質問はまとめて数えます。
web-unanswered-csv = CSV をダウンロード
web-unanswered-times = 質問回数
web-unanswered-none = この期間と場所の質問には、すべて回答しました。
web-feedback = 評価
web-feedback-why = 読者が回答をどう評価したかを示します。質問を選ぶと、回答の過程を見られます。
web-feedback-verdict = 評価
web-feedback-words = コメント
web-feedback-at = 日時
web-feedback-none = この期間と場所の評価はまだありません。読者は回答の下のボタンで評価できます。
web-overview-filter = 絞り込み
web-overview-period = 期間
web-overview-days =
    { $count ->
        [1] 今日
       *[other] { $count } 日間
    }
web-overview-platform = プラットフォーム
web-overview-workspace = ワークスペース
web-overview-channel = チャンネル
web-overview-all = すべて
web-overview-show = 表示
web-overview-questions = 質問
web-overview-cost = 費用
web-overview-per-day = 1 日ごとの質問数
web-overview-cost-per-day = 1 日ごとの費用
web-overview-as-table = 表で表示
web-overview-day = 日付
web-overview-providers = 検索サービス
web-overview-providers-hint = 直近 { $count } 回の検索に基づきます。
web-overview-provider = サービス
web-overview-found = 結果のあった検索
web-overview-failed = 失敗した検索
web-overview-last-failure = 最後の失敗
web-overview-latest = 最新の質問
web-overview-question = 質問
web-overview-state = 結果
web-overview-asked = 質問日時
web-overview-nothing = この期間と場所の質問はありません。
web-overview-everything = すべての場所の過去 90 日間を表示
web-overview-new = 質問はまだありません。接続したチャットやこのコンソールで質問されると、質問の内容、回答できなかったもの、費用がここに表示されます。
web-overview-ask = 最初の質問をする
web-overview-csv = 日別データを CSV でダウンロード
web-overview-json = すべての数値（JSON）

### The documents that are searched, for operators

sources = 情報源
sources-none = 文書はまだありません。ファイルをアップロードするか、フォルダーを追加するか、FOOTNOTE_DOCS にフォルダーを指定してください。
sources-unindexed = まだ索引に登録された文書がありません。先に `footnote index FOLDER` を実行してください。
sources-path-gone = ファイルまたはフォルダー { $path } がありません。--docs または FOOTNOTE_DOCS を直してください。
sources-sum =
    { $found ->
        [0] ファイルが見つかりませんでした。
       *[other] { $found } 件中 { $documents } 件のファイルを検索できます。
    }
sources-starts = { -brand } が新しい文書で起動しています。数秒かかります。
sources-folders = フォルダー
sources-index = 今すぐ再インデックス
sources-index-one = このフォルダーを再インデックス
sources-index-why = 新しいファイル、変更されたファイル、読めなかったファイルだけを読み取ります。
sources-indexing = インデックス中…
sources-looked = 前回の確認：
sources-next = 次回の確認：
sources-changed = 最後に読んだファイル：
sources-number = { $count }
sources-document = 検索対象
sources-stale = 以前の版で検索
sources-copy = 別のファイルと同じ内容
sources-empty = 空
sources-large = 大きすぎる
sources-unreadable = 読み取り不可
sources-kind = 対応していない種類
sources-hidden = 隠しファイル
sources-other = リンク、読み取り権限のないファイル
sources-folder = 除外したフォルダー
sources-readers = 閲覧できる人
sources-documents = 文書
sources-everybody = 質問できる人全員
sources-channels = チャンネル { $ids }
sources-people = 人 { $ids }
sources-slack-groups = Slack ユーザーグループ { $ids }
sources-discord-roles = Discord ロール { $ids }
sources-console-users = コンソールのユーザー { $ids }
sources-console-groups = コンソールのグループ { $ids }
sources-others = ほかの検索先
sources-server = { $name }（Model Context Protocol サーバー）：{ $readers }
sources-chat = { $name }：そこで出された質問では会話も検索
sources-find = インデックスを検索
sources-all = インデックスがすべての文書から見つけたものを、一致度の高い順に表示します。
sources-hidden-from = インデックスが見つけたものを、一致度の高い順に表示します。読む権限のない文書は除きます：{ $names }。
sources-found =
    { $count ->
        [0] 何も見つかりませんでした。
       *[other] { $count } か所。
    }
sources-open = この箇所を開く
sources-read = 閲覧日時
sources-same = { $path } と同じ内容
sources-no-ending = 拡張子なし
sources-list-end = ここにはこれ以上ファイルがありません。
sources-back = 前へ
sources-more = 次へ
sources-gone = このファイルまたはフォルダーは、もう文書に含まれていません。
sources-is-set = コンソールの外で { $name } として設定されています。
sources-is-added = ここで追加されました。
sources-uploads = アップロードしたファイル
sources-manage = 表示、削除
sources-add = 文書を追加
sources-add-why = コレクションで閲覧者を限定しない限り、ここで追加したものは、質問できる人全員が読めます。
sources-shut = ここでは文書を追加、削除できません。運用担当者に許可するには { $name } を設定してください。
sources-upload = ファイルをアップロード
sources-upload-why = テキスト、Markdown、HTML、PDF、Word、PowerPoint、Excel など。1 件 { $limit } MB まで、一度に 10 件まで。
sources-upload-now = アップロード
sources-replace = 同じ名前のファイルを置き換える
sources-no-file = ファイルを 1 つ以上選んでください。
sources-not-read = ファイル { $name } は対応していない種類です。テキスト、Markdown、HTML、PDF、Word、PowerPoint、Excel、OpenDocument、EPUB、CSV を読めます。
sources-exists = ファイル { $name } はすでにあります。置き換えるには「同じ名前のファイルを置き換える」を選んでください。
sources-not-stored = ファイル { $name } を保存できませんでした：{ $why }。
sources-add-folder = このサーバーのフォルダーを追加
sources-add-look = フォルダーを確認
sources-add-found = { $path } には { $found } 件のファイルがあり、そのうち { $documents } 件を読めます。質問できる人全員が読めるようになります。
sources-add-sure = フォルダーを追加
sources-add-not = キャンセル
sources-no-folder = 「{ $path }」は { -brand } が読めるフォルダーではありません。このサーバーでの完全なパスを入力してください。
sources-own-folder = 「{ $path }」は { -brand } 自身のデータのフォルダーを含むか、その中にあります。別のフォルダーを指定してください。
sources-followed = 「{ $path }」はすでに検索対象です。
sources-drop = フォルダーを外す
sources-drop-why = ファイルはそのまま残ります。検索されなくなるだけです。
sources-drop-sure = 外す

# Connecting chats and models in the console, and its page of the status.
connect = { $name } を接続
connect-slack-app = アプリを作成します。リンクにはすべての設定が含まれています。ワークスペースを選び、「Next」、「Create」の順に選んでください。
connect-slack-open = Slack でアプリを作成
connect-slack-bot = 「Install App」を選んでワークスペースにインストールし、「Bot User OAuth Token」をコピーします。
connect-slack-bot-field = Bot User OAuth Token（xoxb-…）
connect-slack-socket = 「Basic Information」の「App-Level Tokens」で「Generate Token and Scopes」を選びます。connections:write を追加してトークンを生成し、コピーします。
connect-slack-socket-field = アプリレベルトークン（xapp-…）
connect-slack-connected = /invite { $name } でチャンネルに招待し、メンションしてください。
connect-discord-app = 「New Application」を選びます。「Bot」で「Reset Token」を選び、トークンをコピーします。
connect-discord-open = Discord のアプリケーション一覧を開く
connect-discord-intent = 同じページで「Message Content Intent」をオンにします。
connect-discord-enter = トークンを入力します。
connect-discord-field = ボットのトークン
connect-discord-connected = 上のリンクからサーバーに追加してください。その後、/ask で質問するか、メンションしてください。
connect-claude-key = Anthropic で API キーを作成し、コピーします。
connect-claude-open = キーのページを開く
connect-claude-enter = キーを入力します。
connect-claude-field = API キー（sk-ant-…）
connect-claude-connected = これからは Claude が検索し、読み、回答を書きます。
connect-copy = または、アプリの設定（マニフェスト）をコピー
connect-entered = 入力済みです。空欄のままにすると、それを使います。
connect-missing = 入力してください。
connect-test = テストして接続
connect-lines = .env の行だけを表示
connect-lines-shown = 正しく動作します。{ -brand } が動いている場所の .env にこれらの行を書き、再起動してください。表示されるのは一度だけで、どこにも保存されません。
connect-starting = { -brand } が新しい設定で起動しています…
connect-connecting = { $name } に接続しています…
connect-checking = 確認しています…
connect-given = { $name } はコンソールの外で設定されています（{ $names }）。変更はそちらで行ってください。
connect-off = ほかの人がこのコンソールにアクセスできるため、ここでは入力できません。{ -brand } が動いている場所で { $names } を設定するか、FOOTNOTE_CONSOLE_SETUP=on で許可してください。
connect-kept-why = 入力した内容は、{ -brand } が動いている場所に暗号化して保存されます。
connect-drop = 接続を解除
connect-drop-why = { -brand } は { $name } の使用をやめ、ここで入力した内容を削除します。
status = 状態
status-again = もう一度確認
status-checked = 確認日時
status-connected = 接続済み
status-works = 正常
status-problem = 問題あり
status-note = 注意
status-off = 未設定
status-checking = 確認中

## Why a file is not read; the kinds of files

unread-folder = フォルダーを開けません（{ $why }）。
unread-shut = 開けません（{ $why }）。
unread-cannot = 読み取れません（{ $why }）。
unread-not-regular = 通常のファイルではありません。
unread-exchanged = フォルダーの読み取り中にリンクに置き換えられました。
unread-link-nowhere = リンク先がありません。
unread-link-out = リンク先が検索対象のフォルダーの外にあります。
unread-no-text = テキストが含まれていません。
unread-too-large = サイズは { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB で、{ $kind }の上限は { NUMBER($most, maximumFractionDigits: 6) } MB です。小さなファイルに分割してください。
unread-too-large-pictures = サイズは { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB で、{ $kind }の上限は { NUMBER($most, maximumFractionDigits: 6) } MB です。小さなファイルに分割するか、画像を小さくして保存してください。
unread-slow = 読み取りに { $seconds } 秒以上かかります。分割するか、テキストに変換してください。
unread-memory = 読み取りに { $most } を超えるメモリが必要です。小さなファイルに分割してください。
unread-broke = 読み取り中にプログラムが異常終了しました。保存し直すか、テキストに変換してください。
unread-kept = 読み取れるようになるまで、{ $date }のテキストを保持します。
unread-empty = { $name } は空で、読める内容がありません。
unread-kind = { $name }（{ $what }）は { -brand } では読めません。PDF、.docx、HTML、テキストのいずれかで保存するか、テキストを貼り付けてください。
unread-image = { $name }（{ $what }）は { -brand } では読めません。PNG、JPEG、WebP、GIF のいずれかで保存し、質問と一緒に送ってください。
unread-old = { $name } は古い形式（{ $what }）です。開いて、{ -brand } が読める { $ending } で保存してください。
unread-locked = { $name } はパスワードで保護されています。パスワードなしのコピーを保存するか、テキストを貼り付けてください。
unread-beginning = { $name } は壊れています。先頭が { $kind } のファイルの形式ではありません。別のコピーを用意してください。
unread-man = { $name } の拡張子はマニュアルページのものですが、内容が違います。テキストとして読むには、拡張子を .txt にしてください。
unread-broken = { $name }（{ $what }）は壊れています。開いて保存し直すか、別のコピーを用意してください。
unread-entities = { $name } は独自の実体を宣言しています。Office のプログラムはこのようなファイルを作りません。開いて保存し直すか、テキストを貼り付けてください。
unread-unpacked = { $name } は展開すると { -brand } が読める大きさを超えます（合計 { NUMBER($size, maximumFractionDigits: 0) } MB）。小さな文書に分割するか、必要な部分を貼り付けてください。
unread-part = { $name } は展開すると { -brand } が読める大きさを超えます（一つの部分だけで { NUMBER($size, maximumFractionDigits: 0) } MB）。小さな文書に分割するか、必要な部分を貼り付けてください。
unread-paragraph = { $name } には { $most } MB を超える段落か行があり、文書として異常です。必要なテキストを貼り付けてください。
unread-entries = { $name } には { $most } を超える数のファイルがあり、文書として異常です。文書そのものを用意してください。
unread-gzip-large = { $name } は展開すると { $most } を超えます。小さなファイルに分割してください。
unread-gzip-broken = { $name } は壊れた gzip ファイルです。圧縮し直すか、中のファイルを用意してください。
unread-pdf-pictures = { $name } はテキストのない画像だけの PDF です。文字認識（OCR）済みの版を用意するか、テキストを貼り付けてください。
unread-pdf-broken = { $name } は壊れた PDF です。別のコピーを用意するか、テキストを貼り付けてください。
unread-pdf-locked = { $name } はパスワードで保護された PDF です。パスワードなしの版を用意するか、テキストを貼り付けてください。
unread-epub = { $name } はコピーが制限された EPUB です。制限のないものを用意するか、必要なテキストを貼り付けてください。
unread-notebook = { $name } は壊れた Jupyter ノートブックです。開いて保存し直すか、HTML に書き出してください。
unread-outlook = { $name } は壊れた Outlook のメッセージです。保存し直すか、.eml で保存してください。
unread-code = { $name } は圧縮されたコードです。元のコードを用意してください。
unread-pandoc = { $name } は pandoc で読めませんでした。PDF、.docx、HTML、テキストのいずれかで保存してください。
unread-no-pandoc = { $name } を読むには pandoc が必要です。インストールするか、pip install 'footnote-bot[pandoc]' を実行してください。
unread-crashed = { $name } を読めませんでした：読み取りが異常終了したか、{ $most } を超えるメモリが必要です。本文を貼り付けてください。
unread-hungry = { $name } を読むには { $most } を超えるメモリが必要です。分割するか、必要な部分を貼り付けてください。
unread-made-slow = { $name } は作りのせいで読むのに時間がかかりすぎます。本文を貼り付けてください。
unread-scripted = { $name } にはブラウザーなしで読める文章がありません。本文を貼り付けてください。
unread-unsearchable = { $name } は長すぎるか、作りのせいで箇所を探すのに時間がかかりすぎます。必要な部分を貼り付けてください。
gate-login = { $name } にはログイン画面しかありません。本文を貼り付けるか、公開されているページを指定してください。
gate-check = { $name } はブラウザーだけを受け付け、代わりに確認画面を表示します。本文を貼り付けてください。
gate-script = { $name } は JavaScript で文章を表示するため、ブラウザーでしか読めません。本文を貼り付けてください。
gate-missing = { $name } は存在しません：サイトがエラーページを表示しています。アドレスを確かめてください。
gate-sale = { $name } はもうありません：アドレスが売りに出ています。別のものを探してください。
gate-preview = { $name } は有料で、一部しか表示されません。本文を貼り付けるか、無料のページを指定してください。
gate-cookies = { $name } には Cookie についての確認しかありません。本文を貼り付けてください。
file-lost = ファイル { $name } はもうありません。もう一度添付してください。
disk-unmounted = { $path } のディスクがマウントされていません。索引に入れたものは残ります。
what-image = 画像
what-media = 画像、音声または動画
what-sound-video = 音声または動画
what-audio = 音声ファイル
what-video = 動画
what-font = フォント
what-archive = アーカイブ
what-program = プログラム
what-database = データベース
what-binary = バイナリファイル
what-xml = XML 文書
what-type = 種類：{ $type }
what-gzip = gzip で二重に圧縮
what-xlsb = Excel バイナリブック（.xlsb）
what-iwork = Apple の Pages、Numbers、Keynote の文書
what-doc = 古い Word 文書（.doc）
what-xls = 古い Excel ブック（.xls）
what-ppt = 古い PowerPoint プレゼンテーション（.ppt）
what-office = 古い Office 文書
what-zip = Office 文書と同じ ZIP ファイル
what-document = 文書
what-word = Word 文書
what-sheets = Excel ブック
what-slides = PowerPoint プレゼンテーション
what-opendocument = OpenDocument ファイル
what-epub = EPUB
format-text = プレーンテキスト
format-man = マニュアルページ
format-notebook = Jupyter ノートブック
format-mail = メール
format-outlook = Outlook のメッセージ
format-subtitles = 文字起こし
format-settings = 設定ファイル
format-log = ログ
format-code = ソースコード
format-gzipped = gzip で圧縮した{ $kind }

## Said in several places

sentences = { $first }{ $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] バイト
    [1] kB
    [2] MB
   *[3] GB
}
listed = { $first }、{ $next }
storage-sqlite = SQLite（{ $path }）
storage-postgres = PostgreSQL（{ $host }、データベース { $name }）

# The names of the parts that are checked
part-kept = コンソールでの設定
part-storage = 保存先
part-uploads = アップロードされたファイル
part-documents = 文書
part-changes = 変更の確認
part-extras = 追加パッケージ
part-rights = 権限
part-network = ネットワーク
part-meaning = 意味による検索
part-search =
    検索（{ $name ->
        [local] 文書
       *[other] { $name }
    }）
part-reader = 読み取りサービス
part-browser = ブラウザー
part-model = モデル
part-budget = 予算
part-console = コンソール

# What the checks find
check-slow = { $seconds } 秒以内に応答がありませんでした。ネットワークを確認して、もう一度お試しください。
check-broke = 予期しないエラーで失敗しました（{ $error }）。詳細はログにあります。
check-storage = { $place }は正常に動作しています。
check-storage-open = このマシンのほかのユーザーが { $folder } の { $names } を読めます。`chmod -R go= { $folder }` で防げます。
check-storage-full = ディスクの空きは { $free } しかありません。空きを増やしてください。
check-uploads =
    { $count ->
        [0] アップロードされたファイルはありません。
       *[other] アップロードされたファイルが { $count } 件（{ $size }）保存されています。
    }
check-uploads-today = 今日は { $sent } がアップロードされ、1 人あたりの最大は { $most } です。
check-uploads-limit = 1 人が 1 日にアップロードできるのは { $limit } までです。
check-budget =
    { $usd ->
        [0] 今日の支出はありません。
       *[other] 今日の支出は { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD です。
    }
check-budget-limits = 上限：{ $limits }。
check-budget-question = 質問ごとに { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD
check-budget-person = 1 人 1 日 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD
check-budget-channel = 1 チャンネル 1 日 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD
check-budget-workspace = 1 ワークスペース 1 日 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD
check-documents-missing = { $paths } には何もありません。FOOTNOTE_DOCS を直すか、作成してください。
check-documents-none = まだ何も索引に登録されていません。「情報源」のページで文書を追加するか、`footnote index FOLDER` を実行してください。
check-documents =
    { $path } に { $count ->
        [0] 登録された文書はありません。
       *[other] 文書 { $count } 件が登録されています。
    }
check-documents-unread = { $files } 件のファイルのうち { $count } 件は、読み取りに対応していない種類です（{ $kinds }）。
check-documents-lost = 次の { $count } 件のファイルは、単語の 90% 未満しか読み取れませんでした：{ $names }。
check-documents-stale = 次の { $count } 件のファイルは現在読めないため、以前の本文を検索しています：{ $names }。
check-changes-none = 追跡しているフォルダーはありません。追跡するフォルダーは FOOTNOTE_DOCS に指定します。
check-changes-start = FOOTNOTE_DOCS_POLL が 0 のため、`footnote serve` は起動時にだけ変更を確認します。
check-changes = `footnote serve` は { $seconds } 秒ごとに変更を確認します（大きいフォルダーでは間隔が長くなります）。
check-changes-never = まだ確認していません。
check-changes-last = 前回の確認は { $at } UTC です。
extra-needed = { $use } には追加パッケージ「{ $extra }」が必要です：{ $install }
extra-browser = スクリプトで作られるウェブページ
extra-discord = Discord
extra-mcp = Model Context Protocol
extra-office = Excel のブック、Outlook のメッセージ
extra-openai = OpenAI の API によるモデル
extra-otel = OpenTelemetry のトレース
extra-pandoc = RTF、LaTeX、DocBook、MediaWiki、Textile
extra-postgres = PostgreSQL とそのキュー
extra-slack = Slack
extra-sso = コンソールのシングルサインオン
extra-vectors = 意味による文書の検索
check-extras-all = すべてインストールされています。
check-extras-one = { $extra }（{ $use }）
check-extras = インストールされていないもの：{ $extras }。`{ $install }` で追加できます。必要なものだけ指定してください。
check-rights-none = 質問できる人は、すべての文書を検索できます。制限するには、footnote.toml に [[collections]] を書いてください。
check-rights = 「{ $name }」（{ $count }）：{ $who }。
check-rights-others = ほかのすべての文書（{ $count }）：質問できる人全員。
check-rights-unindexed = 未登録
check-rights-ever = FOOTNOTE_DOCS がない場合は、これまでに登録されたすべてが検索されます。
check-network = プロキシ { $proxy } は応答しています。
check-network-authorities = { $path } の認証局も信頼します。
check-network-none = プロキシは設定されていません。
check-network-pages = ページは { $proxy } を経由して読みます（{ $target }）。
check-network-names = このマシンではインターネットの名前を解決できません。FOOTNOTE_FETCH_PROXY_TARGET=unresolved にすると、プロキシに任せられます。
check-network-direct = ページはプロキシを経由せずに読みます。
check-network-bypass = プロキシを経由しない接続先：{ $hosts }。
check-meaning-off = 文書は単語だけで検索します。意味でも検索するには、FOOTNOTE_EMBEDDINGS_URL を設定してください。
check-meaning = { $model } は { $count } 個の数からなるベクトルを返しています。
check-meaning-vectors =
    { $count ->
        [0] まだ何も索引に登録されていません。
       *[other] { $count } 個の箇所のうち { $having } 個にベクトルがあります。
    }
check-meaning-missing = 足りないものは `footnote index` で作成できます。
check-search = 試しの検索に成功しました。
check-search-price = 検索 1 回の料金は { NUMBER($usd, minimumFractionDigits: 2) } USD と、{ $model } の呼び出し 1 回分のトークンです。
check-search-quota = 今月のリクエストは { $most } 回のうち { $left } 回残っています。
check-search-unlimited = このプランに月ごとの上限はありません。
check-search-rate = このプランでは 1 秒あたりのリクエストを増やせます。使うには FOOTNOTE_BRAVE_RATE={ $rate } を設定してください。
check-search-credits = クレジットの残りは { $left } です。
check-search-used = クレジット { $most } のうち { $used } を使いました。
check-search-found =
    { $count ->
        [0] 試しの検索では何も見つかりませんでした。
       *[other] 試しの検索で { $count } ページが見つかりました。
    }
check-search-silent = 応答しなかった検索エンジン：{ $names }。
check-mcp = 検索には { $tools } を使います。
check-mcp-read = ページの読み取りには { $tool } を使います。
check-mcp-others = ほかの { $count } 個のツールは呼び出しません。
check-reader-off = ありません。ブラウザーが必要なページをサービスに読ませるには、FOOTNOTE_READER_URL を設定してください。
check-reader = { $name } は応答しています。{ $url } を読みました（{ $count } 文字）。
check-browser-off = ありません。スクリプトで作られるページを読むには、FOOTNOTE_BROWSER を設定してください。
check-browser = Chromium { $version } は起動します。
check-browser-open = サンドボックスなしで動いているため、悪意のあるページが { -brand } の権限を得るおそれがあります。
check-model = { $name } は応答しています。
check-model-none = ありません。回答は最も近い箇所の引用になります。コンソールで Claude に接続するか、ANTHROPIC_API_KEY を設定してください。OpenAI または自前のモデルには FOOTNOTE_MODEL=openai:NAME を設定します。
check-platform-off = 接続していません。コンソールで接続するか、{ $names } を設定してください。
check-discord =
    { $name } は{ $count ->
        [0] まだどのサーバーにも参加していません。
       *[other] { " " }{ $count } 個のサーバーに参加しています。
    }
check-discord-invite = { $url } からサーバーに追加できます。
check-discord-strangers = 誰でも自分用にインストールでき、{ $setting } によって文書を検索できます。「Installation」の「User Install」をオフにするか、この設定を外してください。
check-discord-endpoint = アプリケーションがコマンドを「Interactions Endpoint URL」に送っているため、{ -brand } に届きません。https://discord.com/developers/applications の「General Information」でその欄を空にしてください。
check-discord-intent = Discord はメンションのないメッセージを { -brand } に見せないため、続けて質問するときもメンションが必要です。https://discord.com/developers/applications の「Bot」、「Privileged Gateway Intents」で「Message Content Intent」をオンにしてください。
check-discord-token = Discord が DISCORD_TOKEN を受け付けません。https://discord.com/developers/applications の「Bot」、「Reset Token」からトークンをもう一度コピーしてください。
check-discord-away = Discord に接続できません。ネットワークと https://discordstatus.com を確認して、もう一度お試しください。
check-slack = @{ $bot } は { $team } に参加しています。
check-slack-socket = ソケットモードは正常です。
check-slack-http = /slack/events に届くイベントは検証されます。
check-slack-unused = SLACK_BOT_TOKEN が設定されている間、SLACK_CLIENT_ID は使われません。
check-slack-searched =
    { $meaning ->
        [True] メッセージを意味で検索します
       *[other] メッセージを検索します
    }（{ $kinds }）。
slack-public-channel = パブリックチャンネル
slack-private-channel = プライベートチャンネル
slack-mpim = グループメッセージ
slack-im = ダイレクトメッセージ
check-slack-unsearched = アプリにスコープ { $scope } がないため、メッセージは検索しません。
check-slack-unsearchable = メッセージを検索できません（{ $detail }）。
check-slack-files = ファイルも検索します。
check-slack-no-files = アプリにスコープ { $scope } がないため、ファイルは検索しません。
check-slack-installed =
    { $count ->
        [0] アプリをインストールしたワークスペースはまだありません。
       *[other] { $count } 個のワークスペースがアプリをインストールしています：{ $names }。
    }
check-slack-install = { $url } からインストールします。その後 Slack は { $back } に戻ります。
check-slack-scopes =
    { $team ->
        [none] {""}
       *[other] { $team } で、
    }Slack アプリにスコープ { $names } がありません（{ $count } 個）。https://api.slack.com/apps の「OAuth & Permissions」で足りないものを追加し（または adapters/slack/manifest.yaml を「App Manifest」に貼り付け）、アプリをもう一度インストールしてください。
check-slack-revoked = Slack が { $team } のトークンを受け付けなくなりました。{ $url } からアプリをもう一度インストールしてください。
check-slack-token = Slack が { $setting } を受け付けません（{ $code }）。https://api.slack.com/apps のアプリのページからもう一度コピーしてください。
check-slack-secret = SLACK_SIGNING_SECRET が 32 桁の 16 進数ではありません。https://api.slack.com/apps のアプリの「Basic Information」から署名シークレットをコピーしてください。
check-slack-kind = { $setting } が { $beginning } で始まらないため、別の種類のトークンです。https://api.slack.com/apps のアプリの「{ $page }」から正しいトークンをコピーしてください。
check-slack-away = Slack が { $url } で応答しません。ネットワークまたは FOOTNOTE_SLACK_API_URL を確認してください。
check-slack-socket-scope = SLACK_APP_TOKEN に connections:write がありません。https://api.slack.com/apps のアプリの「Basic Information」で、これを含む新しいアプリレベルトークンを作成してください。
check-slack-socket-off = Slack がソケットモードの接続を開きません（{ $code }）。https://api.slack.com/apps でアプリのソケットモードをオンにしてください。
check-console = `footnote serve` が { $place } で開きます。
check-console-shut = ただし、そこでは誰も質問できません。
check-console-list = { $setting } にコンソールがありません。リストに { $id } を追加してください。
check-console-without = コンソールが不要な場合は、FOOTNOTE_CONSOLE=off を設定してください。
check-console-off = オフです。ブラウザーで質問するには、FOOTNOTE_CONSOLE の設定を外してください。
check-console-closed = ほかの人がアクセスできるため、閉じています。開くには FOOTNOTE_CONSOLE_TOKEN または FOOTNOTE_OIDC_ISSUER を設定してください。
check-sso = { $issuer } がログインを行います（鍵 { $count } 個）。リダイレクト先として { $redirect } をそこに登録してください。
check-sso-out = ログアウト後のアドレスとして { $address } を登録してください。
kept-folder-gone = フォルダー { $path } はありません。
kept-given = { $name } はコンソールの外で設定済みです。そちらで変更してください。
kept-key-gone = コンソールで入力されたキーとトークンを復号できません。{ $where } がないか、読めないか、別の鍵になっています。正しい鍵を元に戻すか、もう一度入力してください。
kept-key-none = 秘密の値は暗号化してのみ保存します。`footnote keys new` が出力する鍵を FOOTNOTE_ENCRYPTION_KEYS に設定し、データベースとは別の場所に保管してください。
kept-key-unreadable = { $path } を読めません（{ $why }）。
kept-key-other = { $path } は { -brand } がそこに書いた鍵ではありません。
kept-key-unwritten = { $path } に書き込めません（{ $why }）。

# What services answer
api-of = { $name } の API
wiki-at = { $host } のウィキ
embeddings-endpoint = 埋め込みサービス
claude-search = Claude のウェブ検索
search-late = { $seconds } 秒以内に応答がありませんでした。後でもう一度お試しください。
search-rate = { $title }は現在これ以上のリクエストを受け付けません。後でもう一度お試しください。
search-down = { $title }は混雑しているか停止しています（HTTP { $status }）。後でもう一度お試しください。
search-redirect = { $title }が別の場所にリダイレクトしていますが、従いません。{ $place } を確認してください。
search-refused = { $title }がリクエストを受け付けません（HTTP { $status }）。
search-access = { $title }がアクセスを拒否しています。そちらでこのマシンを許可するか、{ $place } を確認してください。
search-key = { $title }がキーを受け付けません。{ $key } を直してください。
search-quota = { $title }の利用枠を使い切りました。プランの上限を上げるか、FOOTNOTE_PROVIDERS から外してください。
search-garbled = { $title }の応答を読み取れません。{ $place } を確認してください。
search-slow = { $title }が時間内に応答しません。後でもう一度お試しください。
search-away = { $title }に接続できません。ネットワークと { $place } を確認してください。
service-other = { $host }は応答しますが、{ $service }とは異なります。{ $url } を確認してください。
service-slow = { $model } の応答に { $seconds } 秒以上かかりました。もう一度お試しいただくか、FOOTNOTE_MODEL_TIMEOUT を大きくしてください。
service-away = { $host }に接続できないか、接続が切れました。ネットワークを確認して、もう一度お試しください。
service-garbled = { $host }から読み取れない応答が届きました。もう一度お試しいただくか、{ $url } を確認してください。
service-unpaid = { $key } のアカウントではこのリクエストの料金を支払えません：{ $words }
service-key = { $host }が { $key } を受け付けません：{ $words }。キーまたはその権限を直してください。
service-unknown = { $host }にモデル { $model } はありません。{ $setting } に利用できるモデルを設定してください。
service-nothing = { $host }に { $protocol } はありません。{ $url } を直してください（{ $form ->
    [without] /v1 なし
   *[with] /v1 あり
 }）。
service-busy = { $host }は混雑しており、{ $count } 回試しても応答しませんでした。しばらくしてからもう一度お試しください。
service-trouble = { $host }側に問題があり、{ $count } 回試しても応答しませんでした。しばらくしてからもう一度お試しください。
service-refused = { $host }が { $model } へのリクエストを拒否しました：{ $words }
reading-service = 読み取りサービス { $name }
wiki-none = { $url } に MediaWiki の API がありません。{ $place } を確かめてください。
wiki-login = { $title }はログインしないと読めません。
wiki-refused = { $title }は要求を受け付けません。
wiki-no-such = { $title }にそのページはありません。
wiki-no-page = { $site } に「{ $page }」というページはありません。
wiki-no-article = { $url } は { $site } の記事ではありません。
wiki-empty = { $site } のページ「{ $page }」には文章がありません。
proxy-unconnected = プロキシ { $proxy } が { $host } に接続しません（{ $why }）。プロキシと HTTPS_PROXY、NO_PROXY、FOOTNOTE_CA_BUNDLE を確かめてください。
embeddings-quota = { $key } のキーの利用枠を使い切りました。増やしてください。
embeddings-unknown = { $title }はこのアドレスまたはモデル { $model } を知りません。{ $place } と FOOTNOTE_EMBEDDINGS_MODEL を確かめてください。
brave-rate = Brave はこの 1 秒間の要求をこれ以上受け付けません。後でやり直すか、FOOTNOTE_BRAVE_RATE をプランに合わせてください。
searxng-json = SearXNG が結果を JSON で返しません。settings.yml の search.formats に json を加え、再起動してください。
searxng-silent = SearXNG は何も見つけられず、次の検索エンジンは応答しませんでした：{ $names }。エンジンの状態を確かめるか、後でやり直してください。
service-toolless = { $model } は調査に必要なツールを呼び出せません。FOOTNOTE_MODEL を呼び出せるモデルにしてください。
mcp-tool = ツール { $tool } が失敗しました：{ $words }
mcp-refused = 拒否されました：{ $words }
mcp-odd = 宣言した形式と異なる結果が送られてきました。
mcp-credentials = 認証情報が受け入れられません（HTTP { $status }）。[[mcp]] の headers か oauth を直してください。
mcp-broke = 接続が切れました。後でやり直してください。
mcp-command = コマンド { $command } を起動できません。[[mcp]] で直してください。
mcp-away = 接続できないか、プロトコルに対応していません。
mcp-no-search = 検索するツールがありません：{ $names }。
mcp-name-one = [[mcp]] の `search` で指定してください。
browser-none = { $place } の { $name } というプログラムはこのマシンにありません。Chromium をインストールするか、名前を直してください。
browser-sandbox = Chromium がサンドボックス付きで起動しません。ユーザー名前空間が使える環境で、root 以外のユーザーとして { -brand } を実行してください。ほかに何も入っていないコンテナなら { $setting }=off にできます。
browser-dead = Chromium（{ $name }）が起動しません。手動で試すか、{ $place } を直してください。
sso-issuer = FOOTNOTE_OIDC_ISSUER は { $given } ですが、プロバイダーは { $its } と名乗っています。それに合わせてください。
sso-lacks = OpenID プロバイダーのディスカバリー文書に使える { $name } がありません。
toml-invalid = { $path } は正しい TOML ではありません：{ $why }。そこを直してください。
toml-unusable = { $path } のコレクションまたはサーバーは使えません。`footnote doctor` が原因を示します。
rights-gone = コレクションを定めた { $path } がありません。元に戻してください。
rights-twice = コレクション { $first } と { $second } の両方にパス { $path } があります。どちらか一方だけにしてください。
rights-nowhere = コレクション { $name } のパス { $path } にはファイルもフォルダーもありません。直してください。
rights-outside = コレクション { $name } のパス { $path } は検索対象の文書（{ $docs }）の外にあります。直すか、FOOTNOTE_DOCS に加えてください。
