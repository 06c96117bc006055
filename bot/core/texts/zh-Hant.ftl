# Footnote 的正體中文文案。編號與變數須與 en.ftl 一致。

-brand = Footnote

## 進行中

working = 正在查找資料……
queued =
    { $ahead ->
        [0] 已排入佇列，下一個就輪到你。
       *[other] 已排入佇列，前面還有 { $ahead } 個問題。
    }
stopping = 正在停止……
stopped = 已停止。
nothing-running = 這裡沒有進行中的工作，不需要停止。
stopping-count = 正在停止 { $count } 個問題……
edited-question = 問題已修改，正在重新回答……

## 計畫中的步驟

step-rewrite = 理解問題
step-search = 搜尋：{ $title }
step-read = 閱讀：{ $title }
step-think = 思考
step-plan = 擬定研究計畫
step-draft = 起草
step-revise = 修訂
step-write = 撰寫回答
step-check = 核對註腳
step-other = { $title }
step-searches = 搜尋 { $count } 次
step-pages = 閱讀 { $count } 頁
exhaustive-price =
    { $usd ->
        [-1] 最多搜尋 { $searches } 次，最長 { $minutes } 分鐘，費用未知。隨時可以停止，屆時給出已找到的內容。
       *[other] 最多搜尋 { $searches } 次，最長 { $minutes } 分鐘，費用最多約 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元。隨時可以停止，屆時給出已找到的內容。
    }
exhaustive-round = 搜尋 { $searches } 次後（最多 { $most } 次）：找到 { $facts } 項事實
elapsed = 已用 { NUMBER($seconds, maximumFractionDigits: 0) } 秒
more-steps = 還有 { $count } 個步驟

## 回答之後

sources-heading = 來源
more-sources = 還有 { $count } 個來源
preview-edited = 問題後來被修改了，請點擊連結查看新的回答。
preview-sources = { $count } 個來源
text-given-by = 文字由 { $name } 提供
answer-place-gone = 我已無法在那裡發布「{ $question }」的回答：該頻道已被封存，或者我已被移出。請在這裡或其他頻道重新提問。
answer-refused = 平台沒有接受對「{ $question }」的回答（{ $code }）。請要求更短的回答，或聯絡工作區管理員。
unverified = ⚠ 未經證實：「{ $sentence }」（{ $reason }）
disagrees = ⚖ 來源說法不一：「{ $sentence }」，而 [{ $number }] 稱「{ $quote }」
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } 秒 · 搜尋 { $searches } 次 · 閱讀 { $pages } 頁{ $cost ->
        [0] { "" }
       *[other] { " · " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 美元
    }
summary = { $spent } · 編號 { $run }
details-button = 來源與查找過程
partly-answered = ◐ 部分回答。未找到：{ $what }
doubts-counted = ⚠ 有 { $count } 句沒有得到來源支持
disagreements-counted = ⚖ 來源對 { $count } 句說法不一
notes-counted = ⓘ 關於查找過程有 { $count } 則說明
searched-for = 搜尋詞：{ $queries }
follow-ups-heading = 接下來可以問

## 按鈕

stop-button = 停止
dig-deeper = 深入研究
feedback-good = 有幫助
feedback-bad = 沒幫助
feedback-thanks = 謝謝！你的意見已和這則回答一起保存。
feedback-ask-why = 謝謝！你的意見已和這則回答一起保存。有什麼問題？
delete-answer = 刪除這則回答
delete-answer-ask = 這會移除這裡的回答，並從儲存中刪除你的問題和回答，而且無法復原。
delete-answer-yes = 刪除
delete-answer-no = 取消
delete-answer-not-yours = 只有提問的人可以刪除這則回答。

## 遇到問題時

no-question = 想知道什麼？請在提及我之後直接寫下問題，或使用 /ask。
question-too-long = 你的問題有 { $length } 個字元，而我最多能讀 { $most } 個。請縮短它，或把長的部分作為檔案附上。
files-question = { $names } 講了什麼？
failed = 這個問題沒能完成：{ $reason }
retry-button = 重試
cannot-open-thread = 我沒有在這裡建立討論串的權限，所以直接在頻道裡回答。頻道管理者可以授予我這項權限。
cannot-read-history = 我看不到這裡先前的訊息，只知道直接問我的內容。頻道管理者可以授予我這項權限。
history-too-slow = 我沒能及時讀完這裡先前的訊息，只知道直接問我的內容。稍後再問也許可以。
asked-by = { $name } 問：{ $question }
question-of = { $name } 的提問
only-for-command = 我不是這裡的成員，只能透過你的指令回答，而且只有 15 分鐘。伺服器管理者可以邀請我加入。
answer-in-file = 回答太長，一則訊息放不下。全文請見檔案。
answer-comes-directly = 研究所需的時間超過了 Discord 允許我在此回答指令的 15 分鐘。回答將以私訊傳給你。
direct-closed = 研究所需的時間超過了 Discord 允許我在此回答指令的 15 分鐘，而我無法傳私訊給你。請允許私訊後再問一次。
only-for-minutes = 我不是你提問之處的成員，Discord 只允許我在 15 分鐘內回答那裡的指令。這次用時更長，所以在這裡回答。
only-so-many-messages = 我不是你提問之處的成員，Discord 只允許我為一個指令傳幾則訊息，所以在這裡回答。
cannot-post = 我沒有在那個頻道發言的權限。頻道管理者可以邀請我加入，或授予我這項權限。
file-not-read = 無法讀取檔案 { $name }：{ $reason }
file-gone = 無法讀取檔案 { $name }：它已被刪除。
file-hidden = 無法讀取檔案 { $name }：工作區超出了方案的限額，檔案已被隱藏。
file-elsewhere = 無法讀取檔案 { $name }：它儲存在其他服務中。請直接分享檔案本身。
file-not-shown = 無法讀取檔案 { $name }：我在這裡看不到它。請重新分享，或貼上其中的文字。
file-is-canvas = 無法讀取 { $name }：平台不提供畫布或清單的檔案。請貼上其中的文字，或分享匯出的檔案。
link-not-read = 無法讀取 { $url }：{ $reason }
more-elsewhere = 我還在只有你能看到的地方找到了更多內容。傳私訊問我，我就會一併搜尋。
more-elsewhere-here = 關於你在 { $channel } 的提問：我在並非所有人都能看到的頻道裡還找到了更多內容。在這裡問我，我就會一併搜尋。
documents-dated =
    { $after ->
        [none] { $before } 以前
       *[other]
            { $before ->
                [none] { $after } 以來
               *[other] { $after } 至 { $before }
            }
    }
documents-narrowed = 只搜尋了：{ $only }
documents-unmatched =
    沒有文件符合：{ $only }。{ $names ->
        [none] {""}
       *[other] 相近的名稱：{ $names }。
    }
documents-widened = 以下範圍的文件中沒有找到內容：{ $only }。已改為搜尋全部文件。
search-widened =
    { $domains ->
        [any] {""}
       *[other] 在 { $domains } 上
    }{ $freshness ->
        [day] 沒有找到最近一天的內容
        [week] 沒有找到最近一週的內容
        [month] 沒有找到最近一個月的內容
        [year] 沒有找到最近一年的內容
       *[any] 沒有找到內容
    }，因此我放寬限制再次搜尋。
links-left-out = 另有 { $count } 個連結沒有讀，因為超出了一次回答的限額。
try-again = 剛才沒能儲存，請稍後再試。
not-kept = 剛才沒能收下你的問題，請過一分鐘再問一次。
command-broke = 剛才沒有成功，請過一分鐘再試。
run-broke = Footnote 內部在執行 { $run } 中出錯：可以再問一次；如果仍然不行，請把這個執行編號告訴管理員。
question-gone = 這個問題已經找不到了，請再問一次。
suggestion-gone = 這個建議已經不在了。請直接在討論串裡提問。
answer-out-of-reach = 無法顯示這個回答：它依據的文件不允許或已不再允許在這裡閱讀。
words-out-of-reach = （不顯示：來自不允許在此閱讀的文件）
documents-out-of-reach = { -brand } 回答期間，文件的權限發生了變化。請再問一次。
earlier-out-of-reach = 本討論串中較早的一些回答沒有使用：它們依據的文件已不再允許在這裡搜尋。
place-unknown = 我無法在這種頻道裡回答。請換一個頻道提問。
asked-already = 這個已經問過了，請看它的回答，或稍等片刻。

## 誰可以提問

denied-workspace = 這個工作區尚未啟用 { -brand }，{ -brand } 管理員可以開啟。
denied-channel = { -brand } 不在這個頻道回答問題。請換一個頻道，或請 { -brand } 管理員允許在此使用。
denied-user = 你不在可以向 { -brand } 提問的名單上，{ -brand } 管理員可以把你加進去。
denied-role = 你目前的身分組不能向 { -brand } 提問。{ -brand } 管理員可以告訴你需要哪個身分組，或允許你的身分組。
denied-direct = { -brand } 不接受私訊。請在頻道裡提問，或請 { -brand } 管理員允許私訊。
denied-console = 主控台目前不能提問。{ -brand } 的維運人員可以把 { $id } 加入 { $setting } 來允許。
denied-console-roles = { $setting } 只允許有身分組的人提問，而主控台裡沒有身分組。{ -brand } 的維運人員可以改用 { $instead } 列出可以提問的人。
denied-guest = { -brand } 不在這裡回答訪客的問題，{ -brand } 管理員可以更改。
denied-unknown = { -brand } 暫時無法確認你是不是訪客，而訪客不能在這裡提問。請稍後再問一次。
denied-day-user = 你今天的研究額度已用完。不到 { $hours } 小時後（協調世界時 00:00）可以再提問。
denied-day-channel = 本頻道今天的研究額度已用完。不到 { $hours } 小時後（協調世界時 00:00）可以再在這裡提問。
denied-day-workspace = 本工作區今天的研究額度已用完。不到 { $hours } 小時後（協調世界時 00:00）可以再提問。
denied-day-uploads = 每人每天可傳送共 { $limit } 百萬位元組的檔案，這些檔案會超出限額。不到 { $hours } 小時後（協調世界時 00:00）可以再傳送檔案。
denied-day-questions = 你今天的 { $limit } 個問題都已問完。不到 { $hours } 小時後（協調世界時 00:00）可以再提問。

## 頻道規則

rules-title = { -brand } 在這個頻道的回答方式
rules-line = { $key }：{ $value }
rules-none = 這個頻道沒有單獨的規則，使用一般設定。
rules-set = 設定好了。在這個頻道，{ $key } 現在是：{ $value }
rules-reset = 設定好了。這個頻道已恢復為一般設定。
rules-unknown = 沒有名為「{ $key }」的規則。可以設定：{ $known }
rules-invalid = 「{ $value }」不能用作 { $key } 的值。可選：{ $allowed }
rules-too-long = 對 { $key } 來說太長了：最多 { $most } 個字元。
rules-not-admin = 只有 { -brand } 管理員可以變更這裡的回答方式。
rules-help = { $show }：檢視本頻道的規則；{ $set }：修改其中一條（{ $keys }）；{ $reset }：恢復一般設定。
searched-title = { -brand } 在這裡搜尋的內容
searched-providers = 搜尋引擎：{ $names }
searched-collection = 文件「{ $name }」：{ $why }
searched-why-everybody = 所有可以提問的人
searched-why-channels = 這個頻道可以搜尋
searched-why-people = 你可以搜尋
searched-why-slack-groups = 你所在的使用者群組可以搜尋
searched-why-discord-roles = 你擁有的身分組可以搜尋
searched-why-console-users = 你可以搜尋
searched-why-console-groups = 你所在的群組可以搜尋
searched-others = 不屬於任何文件集的文件：所有可以提問的人
searched-all = 所有已索引的文件：所有可以提問的人
searched-not = 另有 { $count } 個文件集不在這裡搜尋。
searched-guest = 不搜尋文件：既不為訪客搜尋，也不在外部人員可能看到的地方搜尋。
searched-unusable = 不搜尋文件：{ -brand } 的執行者需要更正設定中的文件集。

## 持續關注的問題

watch-changed = 自 { $since } 以來的變化
watch-now = 現在：
watch-before = 之前：
watch-over = 已有 { $days } 天沒有人在這裡開啟或回應，我不再關注這個問題：{ $question }
watch-begun = 我會{ $schedule }再查一次，只有答案有變化時才在這裡說。編號：{ $id }。
watch-pressed = 已關注：答案有變化時會在這裡告訴你。
watch-pressed-daily = 每天關注：答案有變化時會在這裡告訴你。
watch-pressed-weekly = 每週關注：答案有變化時會在這裡告訴你。
watch-badge =
    { $schedule ->
        [daily] 每天關注
        [weekly] 每週關注
        [paused] 關注已暫停
        [ended] 關注已結束
       *[other] 已關注
    }
watch-daily = 每天
watch-weekly = 每週
watch-cron = 依「{ $schedule }」（UTC）
watch-line = { $id }：{ $question }（{ $schedule }；{ $state }）
watch-due = 下次：{ $due }
watch-paused = 已暫停
watch-ended = 已結束
watch-looked = ，上次 { $looked }：{ $outcome }
watch-outcome-same = 沒有變化
watch-outcome-changed = 有變化
watch-outcome-no-answer = 沒有找到答案
watch-outcome-budget = 當天的預算已用完
watch-outcome-refused = 已不能在那裡提問或發布
watch-none = 你還沒有持續關注的問題。
watch-unknown = 你持續關注的問題中沒有編號 { $id }。
watch-too-many =
    { $most ->
        [0] 這裡不能持續關注問題。
       *[other] 你已在關注 { $most } 個問題，不能再多：請先停止一個。
    }
watch-schedule-unknown = 「{ $schedule }」不是可用的時間表：請用 daily（每天）、weekly（每週）或五段的 cron 運算式，例如 "0 9 * * 1-5"（UTC）。
watch-schedule-too-often = 「{ $schedule }」太頻繁：兩次之間至少隔一小時。
watch-done-pause = 已暫停：{ $question }
watch-done-resume = 繼續關注：{ $question }
watch-done-stop = 不再關注：{ $question }
watch-help = { $command } daily 問題：持續關注一個問題（daily、weekly，或放在引號裡的 cron 運算式）；{ $command }：列出你關注的問題；{ $command } pause 編號、resume 編號、stop 編號：暫停、繼續、停止。
watch-button = 持續關注
watch-description = 持續關注一個問題，答案有變化時告訴你；不寫問題則列出你關注的問題
watch-name = 關注
watch-question = 要關注什麼；留空則列出你關注的問題
watch-every = 多久查一次：daily、weekly 或 cron 運算式（UTC）
watch-id = 你關注的一個問題的編號，用來更改它
watch-action = 對它做什麼
watch-pause = 暫停
watch-resume = 繼續
watch-stop = 停止
watch-heading = 持續關注的問題
watch-why = 每天再查一次最後一個問題，答案有變化時在這裡發布。
watch-intro = 這些問題會按時重新查找。答案有變化時，會發布在各自的對話裡。要新增問題，請在對話中選擇「持續關注」。
watch-manage = 更改「{ $question }」

correction-noted = 已記下：{ $said }
correction-noted-on = 已就「{ $question }」記下：{ $said }
correction-not-kept = 這條更正沒有保留：你已撤回它，或一天內已有 { $most } 條。
correction-guest = Footnote 不保留訪客的更正，也不保留與其他公司共用的頻道裡的更正。
correction-title = 更正：{ $name }、{ $when }
correction-title-own = 你的更正、{ $when }
correction-of = 更正對這個問題的回答：{ $question }
correction-remove = 移除
correction-removed = 已移除，今後不再作為來源。
correction-unknown = 沒有編號為 { $id } 的更正。
correction-not-yours = 只有更正的作者或管理員可以移除它。
correction-heading = 更正
correction-begin = 更正
correction-say = 正確的是什麼？以後的問題會把它當作來源。
correction-intro = 大家指出的回答中的錯誤。以後的問題會把它當作來源。
correction-none = 還沒有更正。在回答之後回覆指出其中的錯誤，更正就會出現在這裡。

## 被遺忘

forget-ask = 我保存著你的 { $messages } 則訊息，以及給你的 { $answers } 個回答和為此找到的內容。我可以把所有頻道裡的這些全部忘掉，且無法復原。已經發在這裡的內容會保留，直到有人刪除它。要繼續，請用：{ $command }
forget-nothing = 我沒有保存你寫的任何內容。
forget-done =
    { $messages ->
        [0] 好了。我沒有保存你寫的任何內容。
       *[other] 好了。我已忘掉你的 { $messages } 則訊息，以及為你找到的內容。
    }已經發在聊天裡的內容會保留，直到有人刪除它。
forget-help = { $command }：讓我忘掉你寫給我的內容。

## 首頁

home-title = 提問，得到可以查證的回答
home-intro = { -brand } 會搜尋、閱讀網頁，並為回答中的每個說法附上註腳。
home-how = 如何提問
home-how-mention = 在我所在的任何頻道提及我，並寫下問題。
home-how-direct = 直接傳私訊給我，不需要提及。
home-how-follow-up = 在討論串裡回覆即可追問，我記得先前說過的內容。
home-how-command = 在我所在的任何頻道使用 /ask。
home-how-shortcut = 在任何訊息的選單中選擇「研究一下」。
home-how-stop = 點「停止」按鈕，或直接寫「停止」，我就會停下。
home-connected = 已連線
home-reasoner = 思考：{ $name }
home-providers = 搜尋：{ $names }
home-documents = 本機文件 { $count } 份
home-usage = 本月
home-questions = 提問 { $count } 個
home-answered = 已回答 { $count } 個
home-cost = 花費 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元

## 指令

ask-description = 研究一個問題，得到附註腳的回答
ask-question = 想知道什麼
ask-question-or-form = 想知道什麼；留空則開啟可寫長問題的表單
ask-file = 和問題一起閱讀的檔案
ask-depth = 研究得多深入
depth-auto = 自動
depth-quick = 快速：看一眼
depth-standard = 標準：搜尋並閱讀
depth-deep = 深入：花時間更久，讀得更多
depth-exhaustive = 窮盡：找出全部，最多搜尋 150 次
depth-tag-quick = 快速
depth-tag-deep = 深入
depth-tag-exhaustive = 窮盡
stop-description = 停止這裡進行中的研究
rules-description = 查看或變更 Footnote 在這個頻道的回答方式
shortcut-name = 研究一下
shortcut-check-name = 查核事實
command-accepted = 好的，這就去查：{ $question }
only-me-accepted = 我會在私訊裡回答，只有你看得到。
only-me-refused = 我無法傳私訊給你，所以無法只回答你一個人。
stop-name = 停止
forget-name = 忘記我
forget-description = 查看我保存了你寫的哪些內容，並讓我忘掉
forget-confirm = 選擇「是」即全部忘掉，無法復原
forget-yes = 是，忘掉
ask-name = 提問
rules-show-description = 查看 Footnote 在這個頻道的回答方式
rules-set-description = 變更 Footnote 在這個頻道的一項回答方式
rules-reset-description = 讓這個頻道恢復為一般設定
rules-key = 要設定的項目
rules-value = 設定的值

## 對話旁的面板

prompts-title = 例如
document-asked-about = 「{ $title }」的要點是什麼？
prompt-compare = 比較兩樣東西
prompt-compare-message = 熱泵和瓦斯鍋爐在成本和排放上相比如何？
prompt-explain = 解釋新事物
prompt-explain-message = Python 最新版本有哪些新功能，為什麼重要？
prompt-summarize = 總結一個網頁
prompt-summarize-message = 用五點總結 https://zh.wikipedia.org/wiki/引用

## 回答下方的說明

budget-model-calls = { NUMBER($limit, useGrouping: 0) } 次模型呼叫的額度已用完。
budget-input-tokens = { NUMBER($limit, useGrouping: 0) } 個輸入詞元的額度已用完。
budget-usd = { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的額度已用完。
budget-seconds = { NUMBER($limit, maximumFractionDigits: 0) } 秒的時間已用完。
budget-searches = { NUMBER($limit, useGrouping: 0) } 次搜尋的額度已用完。
budget-pages = { NUMBER($limit, useGrouping: 0) } 個網頁的額度已用完。
budget-output-tokens = { NUMBER($limit, useGrouping: 0) } 個輸出詞元的額度已用完。
budget-day-user = 你今天 { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的額度已用完。
budget-day-channel = 本頻道今天 { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的額度已用完。
budget-day-workspace = 本工作區今天 { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的額度已用完。
rests-on-found = 回答以此前查到的內容為依據。
quoted-without-model = 內容是在沒有語言模型的情況下查找並摘錄的。
closest-passages = 最接近的段落
closest-none-documents = 你的文件中沒有相關內容。
closest-none = 沒有找到能回答這個問題的內容。
closest-nearest = 最接近的頁面：{ $pages }
validity-draft = 草稿
validity-deprecated = 已廢止
validity-archived = 已歸檔
validity-ended = 有效期至 { $words }
validity-early = { $words } 起生效
validity-replaced =
    { $words ->
        [none] 已被取代
       *[other] 已被 { $words } 取代
    }
closest-greeting = 請提一個問題，我會摘錄找到的最接近的段落，每段都附有註腳。
judged-unknown = 判斷：文件中沒有 { $names }
judged-open = 判斷：問題沒有說明所指的內容
judged-share = 判斷：最佳段落包含問題內容的 { $covered }%；需要 { $enough }%
stopped-before-complete = 回答完成之前已停止。
answer-cut = 回答在達到 { NUMBER($limit, useGrouping: 0) } 個詞元的上限時被截斷：請少問一些，或請它繼續。
research-outgrown = 材料已超出模型能接收的範圍，因此研究提前結束。
part-failed = 未能查明「{ $question }」：{ $reason }
model-away = 暫時無法連線到模型。管理員可以查看原因。
model-declined = 模型拒絕處理這個問題。請換一種問法。
model-unusable = 模型的回覆無法使用。請重試，或縮小問題的範圍。
peer-away = 暫時無法連線到所需的服務。管理員可以查看原因。
peer-refused = 所需的服務拒絕了請求。管理員可以查看原因。
reply-unusable = 收到的內容無法使用。
documents-unindexed = 還有 { $count } 個文件尚未建立索引，未能搜尋；請在完成後再問一次。
documents-failed = 這些檔案無法讀取：{ $names }。
documents-partly = 其中有一部分無法讀取：{ $names }。
documents-unread = 這裡的 { $files } 個檔案中有 { $count } 個屬於不讀取的類型（{ $kinds }）。
queries-withheld = 有些查詢沒有發往網路，因為其中含有此處的人沒有寫過的內容；執行頁面列出了這些查詢。
search-unanswered = 搜尋服務 { $names } 沒有回應。
page-away = 暫時打不開，請稍後再試。
page-refused = 不允許由程式讀取；請自行打開，並貼上正文。
page-unreadable = 沒有可以讀取的文字；請貼上正文。
picture-too-large = 超過 { $limit } 百萬位元組；請傳送較小的副本。
picture-too-wide = 寬或高超過 { $limit } 像素；請傳送較小的副本，或只傳送重要的部分。
picture-damaged = 圖片已損壞；請重新傳送。
picture-too-many = 每個問題最多讀取 { $limit } 張圖片；其餘的請隨下一個問題傳送。
picture-nothing = 模型在其中沒有看到任何內容；請寫出圖片的內容。
picture-no-model = 只有使用模型時才能讀取圖片；請寫出圖片的內容。
picture-no-sight = 模型 { $model } 不能讀取圖片；請寫出圖片的內容。
month-day = { $month } 月 { $day } 日
day = { $year } 年 { $date }
picture-sent = { $name } 傳送的圖片，{ $date }
picture-sent-earlier = { $name } 傳送的圖片
price-unknown = { $model } 的價格未知，其費用未計入總額。
asked-here = 在這裡
asked-elsewhere = 在另一個頻道
asked-there = 在 { $place }
asked-earlier = { $date }{ $where }問過：「{ $question }」。
verify-changed =
    { $corrected ->
        [0] 有 { $left } 句與其來源不符，已刪去。
       *[other] { $left ->
            [0] 有 { $corrected } 句得不到其來源的支持，已更正。
           *[other] 得不到來源支持的句子中，{ $corrected } 句已更正，{ $left } 句已刪去。
        }
    }
doubt-contradicted = 註腳所說與此相反
doubt-no-footnote = 沒有註腳
doubt-not-covered = 其腳註沒有這樣說
doubt-not-quoted = 註腳中沒有提到：{ $facts }

## Reports

# Verdicts on the statements of a text
check-none = 這段文字沒有可查核的內容：沒有數字、日期、名稱或其他事實。
check-counts = 已與找到的資料核對：{ $counts }。
check-count-supported = { $count } 條屬實
check-count-partly = { $count } 條部分屬實
check-count-contradicted = { $count } 條與資料矛盾
check-count-nothing = { $count } 條未找到依據
check-count-uncheckable = { $count } 條無法查核
check-supported = 屬實
check-partly = 部分屬實
check-contradicted = 與資料矛盾
check-nothing = 未找到依據
check-uncheckable = 無法查核
check-unsaid = 資料中沒有：{ $words }
check-needs-model = 查核文字中的陳述需要語言模型。

report-limits = 沒有找到的內容
report-dropped = 未能涉及：{ $topics }。
report-separator = ；
report-cut-short = 報告中屆時尚未核對的部分已略去。
report-not-drafted = 未能起草報告，因此這是一份普通回答。
report-not-sourced = 報告的任何部分都未能與來源核對，因此這是一份普通回答。
report-omitted-missed = 已略去「{ $name }」：沒有時間核對。
report-omitted-failed = 已略去「{ $name }」：未能核對。
report-omitted-nothing = 已略去「{ $name }」：沒有找到可供核對的內容。
report-cut = ⚠ 這一部分在達到 { NUMBER($limit, useGrouping: 0) } 個詞元的上限時被截斷。
report-stage =
    { $stage ->
        [draft] 起草
        [query] 決定搜尋什麼
        [reading] 搜尋並閱讀
       *[revision] 修訂
    }（限 { NUMBER($seconds, maximumFractionDigits: 1) } 秒）
report-stage-missed = 未能按時完成
report-stage-nothing = 沒有找到任何內容
report-left-out = 已略去
report-part = 第 { $number } 部分
report-unsourced = 未與任何來源核對：{ $name }
report-deleted = 無依據，已略去：{ $name }
report-revised = 已對照 { $pages } 個網頁修訂，草稿保留 { $kept }%：{ $name }

## The web console

web-ask = 提問
web-overview = 概覽
web-handbook = 使用手冊
web-places = 主選單
web-skip = 跳到內文
web-threads = 對話
web-no-threads = 你的對話會顯示在這裡。
web-new = 新問題
web-follow-up = 繼續追問……
web-question = 想知道什麼？
web-no-question = 請用文字寫下你的問題。
web-depth = 深度
web-send = 提問
upload-files = 檔案
upload-attach = 加入檔案
upload-drop = 放下檔案即可就其提問
upload-remove = 移除 { $name }
upload-empty = 檔案 { $name } 是空的，請選擇其他檔案。
upload-too-large = 檔案 { $name } 超過 { $limit } 百萬位元組，請選擇較小的檔案，或貼上其中重要的部分。
upload-all-too-large = 一次傳送超過了 { $limit } 百萬位元組，請減少檔案或傳送較小的檔案。
upload-too-many = 一次最多可傳送 { $limit } 個檔案，其餘的請之後再傳送。
upload-unreadable = 無法讀取檔案 { $name }。可以讀取沒有密碼的文字、Markdown、網頁、PDF、Word、PowerPoint、Excel、OpenDocument、EPUB 和 CSV 檔案，以及 PNG、JPEG、WebP 和 GIF 圖片。
upload-gone = 該檔案已不存在，請重新加入。
upload-without = 尚未送出。再次送出即可不附此檔案提問。
web-enter = 按 Enter 送出
web-graph = 各個子問題及其先後關係
web-state-waiting = 等待中
web-state-running = 進行中
web-state-done = 已完成
web-state-failed = 失敗
web-ready = 回答已經寫好。
web-indexing = 正在為文件建立索引：共 { $total } 個檔案，已有 { $done } 個可以搜尋。
web-lost = 連線已中斷，正在重試……
web-unsent = 沒有送出成功，請再試一次。
web-resending = 你的問題還沒有送出，正在重試……
web-how = 這個回答是怎麼得來的？
web-source = 來源 { $number }
web-quotes = { $count } 處引文
web-quote = 引文 { $number }
web-in-the-page = 在頁面中查看
web-sources-count = 來源（{ $count }）
web-closest = 你的文件中最接近的段落
web-closest-why = 以下是原文摘錄，不是回答：沒有語言模型讀過它們。
web-closest-has = 包含：{ $words }
web-closest-has-none = 不包含問題中的詞
web-closest-open = 在原文中開啟此處
web-closest-lacking = 所有段落都不包含：{ $words }
web-searched = 搜尋的詞：{ $words }
web-copy-code = 複製程式碼
web-footnote-before = 上一個註腳
web-footnote-after = 下一個註腳
web-source-close = 關閉來源
web-run-said = 模型的回覆
web-read-at = 讀取於
web-copy = 複製為 Markdown
web-copied = 已複製。
web-copy-this = 複製
web-more = 關於這個問題的更多操作
web-edit = 修改問題
web-edit-send = 儲存
web-cancel = 取消
web-regenerate = 重新產生
web-delete = 刪除問題和回答
web-delete-sure = 要刪除嗎？刪除後無法復原。
web-newest = 最新
web-not-answered = 這個問題沒能得到回答。
web-show-all = 顯示全部
web-show-less = 收起
web-failed = 出了點問題
web-not-found = 此頁面不存在
web-not-found-why = 網址可能有誤，或內容已被刪除。
web-back = 回到首頁
web-failed-why = 主控台在這裡做不到。請返回，使用頁面上的按鈕和連結。
web-broke = 這是 { -brand } 本身的故障，不是你的操作造成的，已寫入記錄。可以再試一次；如果仍然不行，請把編號 { $reference } 告訴管理員。
web-form-unreadable = 表單沒有完整送達。請返回，重新送出。
web-too-large = 內容太大，無法傳送：超過 { $most }。
web-send-as = 類型不對。請以 { $kind } 傳送。
web-not-json = 這不是有效的 JSON。
web-depth-unknown = 沒有這種深度。請從選單中選擇。
web-starting = { -brand } 正在啟動或停止。請稍後再試。
web-files-again = 請重新選擇檔案
web-for-operators = 只有 { -brand } 的維運人員可以檢視這個頁面。
web-handbook-gone = 手冊裡沒有這一頁。
web-too-many-streams = 同時開啟的頁面太多了。請關閉一些。
refused-tries = 錯誤的嘗試太多了。請等一分鐘再試。
refused-requests = 一分鐘內的請求太多了。請稍等再試。
refused-token = 權杖不對。正確的權杖在 FOOTNOTE_CONSOLE_TOKEN 中。
refused-sign-in = 請先登入。程式請以「Authorization: Bearer」傳送權杖。
refused-unknown = { -brand } 暫時無法確認你是誰。請稍後再試。
refused-several = 請求標頭 { $header } 沒有指明唯一的一個人。
refused-by-proxy = 你還沒有登入。請透過負責登入的代理開啟主控台。
refused-host = 主控台沒有 { $host } 這個名字。維運人員可以把大家存取它的位址設為 FOOTNOTE_PUBLIC_URL。
refused-path = 這不是主控台的路徑。
refused-cookie = 瀏覽器把同一個 Cookie 傳送了兩次。請重新整理頁面。
refused-site = 這個請求來自另一個網站。請直接開啟主控台。
refused-elsewhere = 這個主控台只能在執行它的機器上使用，位址是 http://127.0.0.1。
refused-open-proxy = 在代理後面，主控台需要設定 FOOTNOTE_CONSOLE_TOKEN。
web-sign-in = 登入
web-sign-in-why = 主控台只需輸入一次權杖，請向管理員索取。
web-sign-out = 登出
web-sign-out-here-why = 對話會保留；此瀏覽器下次需要重新輸入權杖。
web-sign-out-here = 登出此瀏覽器
web-sign-out-all-why = 如果權杖可能已外洩，還應更換權杖。
web-sign-out-all = 在所有瀏覽器中登出
web-token = 權杖
web-token-wrong = 權杖不對，請檢查。
sso-failed = 你尚未登入
sso-again = 重試
sso-signed-out = 你已登出
sso-leaving = 你已登出 Footnote。接下來登入服務也會將你登出。
sso-leave = 繼續
sso-signed-in-as = 你以 { $name } 的身分登入。對話會保留。
sso-sign-out-all-why = 這會結束你在所有瀏覽器中的工作階段。
sso-away = 目前無法連線到登入服務，請稍後重試。
sso-denied = 登入服務未允許你登入：{ $reason }
sso-stale = 這次登入花費過久，或是在另一個瀏覽器中開始的。請重試。
sso-not-allowed = 你的帳號不能使用此主控台，請向管理員申請權限。
sso-nameless = 登入服務在宣告「{ $claim }」中沒有提供可用的內容，而這裡靠它辨識使用者。請聯絡管理員更正。
sso-refused = 登入服務的回應不可信。管理員可在記錄中找到原因。
web-thread-gone = 這個對話已經不在了。
web-too-many-questions = 一分鐘內的問題太多了，請稍等再問。
web-was-stop = 這裡沒有可以停止的內容。要停止正在寫的回答，請按它下面的「停止」。
web-not-here = 這個問題是在聊天中提出的，只能在那裡繼續。
web-not-yours = 只有提問的人才能修改這個問題。

## The console: asking

web-plan-nodes = 研究已完成 { $done }/{ $total } 部分
web-plan-parts = 已完成 { $done }/{ $total } 部分
web-plan-searched =
    { $count ->
        [0] 尚無搜尋結果
       *[other] 搜尋了 { $count } 次
    }
web-plan-read =
    { $count ->
        [0] 尚未閱讀頁面
       *[other] 閱讀了 { $count } 個頁面
    }
web-plan-unread = { $count } 個無法讀取
web-plan-nothing-yet = 尚未找到內容。
web-plan-done = 研究用時 { NUMBER($seconds, maximumFractionDigits: 1) } 秒
web-plan = 研究計畫
web-plan-node = 正在查找：{ $title }
web-plan-part = 正在處理：{ $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } 秒

### What a question searches

web-sources-asked = 搜尋 { $asked }/{ $all } 個來源
web-sources-which = 此問題搜尋哪些來源
web-sources-one = 搜尋範圍：
web-sources-nothing = 這裡沒有你可以搜尋的來源。
web-sources-none = 請至少選擇一個要搜尋的來源。
web-source-other-documents = 其他文件
web-source-web = 網路
web-source-count = { $count } 份文件
prompt-wiki-building = 艾菲爾鐵塔是誰設計的？有多高？
prompt-wiki-nature = 天空為什麼是藍色的？
prompt-wiki-history = 印刷機是什麼時候、由誰發明的？

### Preferences and keys

web-prefs = 偏好設定
web-prefs-keep = 儲存
web-theme = 外觀
web-theme-system = 跟隨系統
web-theme-light = 淺色
web-theme-dark = 深色
web-language = 語言
web-language-browser = 跟隨瀏覽器
web-language-partly = { $name }（部分）
web-zone = 時區
web-zone-browser = 跟隨瀏覽器
web-zone-why = 所有頁面上的日期和時間都依此時區顯示。
web-speak = 語音提問
web-speak-failed = 無法使用麥克風。
web-keys = 快速鍵
web-key-send = 送出問題
web-key-line = 換行
web-key-box = 跳到提問框
web-key-mark = 在註腳及其他內容之間移動
web-key-close = 關閉引文、選單或此清單
web-key-keys = 顯示此清單

## 解釋回答的頁面

web-you = 你
web-run-asked = { $name } 提問 · { $place }
web-run-conversation = 查看對話
web-run-understood = 理解為：
web-run-sections = 本頁內容
web-run-working = 正在處理這個問題，頁面會隨之更新。
web-run-pruned = 這次研究的步驟已不再保留，只剩下回答所記住的內容。
web-run-state-accepted = 等待中
web-run-state-running = 進行中
web-run-state-answered = 已回答
web-run-state-partial = 部分回答
web-run-state-not-found = 未找到
web-run-state-failed = 失敗
web-run-state-stopped = 已停止
web-run-state-removed = 已刪除
web-run-step-waiting = 等待中
web-run-step-running = 進行中
web-run-step-done = 完成
web-run-step-failed = 失敗
web-run-took = 從提問到回答
web-run-worked = 工作用時
web-run-depth = 深度
web-run-depth-auto = 自動
web-run-depth-quick = 快速
web-run-depth-standard = 標準
web-run-depth-deep = 深入
web-run-depth-exhaustive = 窮盡
web-run-reasoner = 回答方式
web-run-searches = 搜尋
web-run-pages-read = 已讀網頁
web-run-calls = 模型呼叫
web-run-tokens-in = 輸入詞元
web-run-tokens-cached = 快取詞元
web-run-tokens-out = 輸出詞元
web-run-cost = 費用
web-run-attempts = 嘗試次數
web-run-feedback = 回饋
web-run-answer = 逐句看回答
web-run-answer-hint = 每句話旁邊是支持它的原文。點選編號可開啟當時讀到的頁面。
web-run-more-quotes = 這些網頁的另外 { $count } 段原文
web-run-disagrees = 但網頁 [{ $number }] 說
web-run-not-verbatim = 與儲存的網頁不一致
web-run-page-gone = 儲存的網頁已不在
web-run-checks = 檢查結果
web-run-check-quotes = { $all } 段引文中有 { $good } 段與儲存的網頁逐字一致。
web-run-check-cited = { $all } 個句子、標題和說明中有 { $cited } 個帶腳註。
web-run-check-no-doubt = 沒有發現來源中不存在的數字、日期或名稱。
web-run-check-verifying = 小模型正在對照引文核對各句。
web-run-check-verified = { $all } 個帶腳註的句子中，小模型認為有 { $good } 個得到引文支持。
web-run-check-not-verified = 小模型沒有核對這些句子：{ $problem }
web-run-verdicts = 小模型對各句的判斷
web-run-verdicts-hint = 它看到的是每個帶腳註的句子及其所引的原文。
web-run-verdict-supported = 得到支持。
web-run-verdict-partly = 部分得到支持。
web-run-verdict-not-supported = 未得到支持。
web-run-verdict-contradicted = 與引文相反。
web-run-verdict-words = 引文中沒有：「{ $words }」。
web-run-verdict-marked = 已在回答中標出。
web-run-verdict-left-out = 已刪去。
web-run-verdict-restated = 回答現在寫作：
web-run-check-missing = 未找到：{ $what }
web-run-graph = 子問題
web-run-steps = 時間線
web-run-step = 步驟
web-run-seconds = 用時
web-run-tokens = 詞元與費用
web-run-paused = 中間有 { $seconds } 沒有進行任何工作，圖中已縮短。
web-run-waited = 等待 { $seconds }：{ $lines }
web-run-attempt = 第 { $number } 次嘗試
web-run-thinking = 它的思考
web-run-search-summary = { $hits } 筆結果，已讀 { $read } 筆 · { NUMBER($seconds, maximumFractionDigits: 2) } 秒
web-run-for = 用於：{ $line }
web-run-hit-read = 已讀
web-run-hit-failed = 無法讀取
web-run-hit-left = 未讀
web-run-hits-left = { $count } 筆未讀的結果
web-run-pages = 網頁
web-run-read-at = 讀於
web-run-whole-page = 全文，{ $count } 個字元
web-run-not-quoted = 沒有引用其中的內容。
web-run-gap = 略去 { $count } 個字元
web-run-revisions = 從草稿到修訂
web-run-revisions-hint = 每一部分先憑記憶起草，再根據讀到的內容修改。紅色為刪去，綠色為新增。
web-run-fate-revised = 已修訂
web-run-fate-unsourced = 已略去
web-run-fate-deleted = 已略去
web-run-queries = 為此搜尋：
web-run-draft = 草稿
web-run-revision = 修訂
web-run-back = 這個回答是怎麼來的
web-original = 開啟原始檔案
web-original-gone = 檔案已不在原處。
web-run-page-hint =
    { $count ->
        [0] 這是當時讀到的網頁，沒有引用其中的內容。
       *[other] 這是當時讀到的網頁，其中引用的 { $count } 處已標出。
    }
web-history-today = 今天
web-history-yesterday = 昨天
web-history-pinned = 已置頂
web-history-older = 更早的對話
web-history-all = 所有對話
web-history-find = 尋找對話
web-history-search = 搜尋
web-history-questions = { $count } 個問題
web-history-found = 有 { $count } 個對話包含「{ $words }」。
web-history-manage = 管理「{ $name }」
web-history-select = 選擇 { $name }
web-history-select-all = 全選本頁
web-history-delete-chosen = 刪除所選
web-history-delete-several =
    { $count ->
       *[other] 刪除 { $count } 個對話？
    }
web-history-delete-several-why = 其中的所有問題、回答和檔案都會被永久刪除，連結也會失效。
web-history-name = 對話名稱
web-history-rename = 重新命名
web-history-pin = 置頂
web-history-unpin = 取消置頂
web-history-delete = 刪除整個對話
web-history-delete-sure = 永久刪除
web-history-more = 這個對話的更多操作
web-did-rename = 已重新命名。
web-did-pin = 已置頂。
web-did-unpin = 已取消置頂。
web-did-share = 連結已建立，可以複製。
web-did-unshare = 連結已失效。
web-share = 分享
web-share-why = 凡可使用此主控台並有權閱讀此對話所有來源的人，都可開啟此連結。
web-share-begin = 建立連結
web-share-end = 撤銷連結
web-share-copy = 複製連結
web-share-copied = 連結已複製。
web-share-is = 已分享
web-share-read-only = 這是他人分享的對話，可以閱讀，但不能更改。
web-share-out-of-reach = 無法顯示此對話：其中使用了你無權閱讀的文件。
web-export = 匯出
web-export-pdf = 列印或 PDF
web-export-html = HTML 檔案
web-export-md = Markdown
web-export-bib = 來源（BibTeX）
web-export-csl = 來源（CSL-JSON）
web-export-made = 匯出於
feedback-why = 有什麼問題？
feedback-wrong = 錯誤
feedback-incomplete = 不完整
feedback-bad-source = 來源不佳
feedback-outdated = 已過時
feedback-words = 補充說明（可選）
feedback-send = 傳送
web-overview-sum =
    { $days ->
        [1] 今天
       *[other] 最近 { $days } 天
    }：{ $people } 人提了 { $questions } 個問題，{ $unanswered ->
        [0] 沒有未獲回答的
       *[other] { $unanswered } 個未獲回答
    }{ $cost ->
        [0] { "" }
       *[other] ，花費 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 美元
    }。
web-overview-pace =
    一半的回答用時不超過 { $median }{ $cost ->
        [0] { "" }
       *[other] ；每個回答平均花費 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 美元
    }。
web-overview-judged = 讀者評價：{ $good } 個有幫助，{ $bad } 個沒幫助。
web-overview-now = 現在：{ $running } 個進行中，{ $waiting } 個等待中。
web-overview-answered = 已回答
web-overview-unanswered = 未獲回答
web-overview-times = 問過 { $count } 次
web-overview-unanswered-why = 來源沒有說明，或只說明了一部分。
web-overview-add-search = 如何連接來源
web-overview-more-unanswered = 所有未獲回答的問題
web-overview-complaints = 讀者指出的問題
web-overview-no-complaints = 沒有讀者認為回答沒幫助。
web-overview-more-feedback = 所有意見回饋
web-overview-by-channel = 提問的地方
web-overview-by-collection = 回答引用的文件
web-overview-collection = 文件集合
web-overview-answers-quote = 回答
web-overview-documents-quoted = 文件
web-overview-no-collection = 不屬於任何集合
web-unanswered = 未獲回答的問題
web-unanswered-why = 人們問到、但來源沒有說明或只說明了一部分的問題。請新增或連接含有這些內容的文件或來源。用詞相同的問題合併計算。
web-unanswered-csv = 下載 CSV
web-unanswered-times = 提問次數
web-unanswered-none = 此時段和範圍內的問題都已獲得回答。
web-feedback = 意見回饋
web-feedback-why = 讀者對回答的看法。點選問題可查看回答是如何得出的。
web-feedback-verdict = 評價
web-feedback-words = 讀者的話
web-feedback-at = 提交時間
web-feedback-none = 此時段和範圍內還沒有意見回饋。讀者可用回答下方的按鈕評價。
web-overview-filter = 顯示範圍
web-overview-period = 時間
web-overview-days =
    { $count ->
        [1] 今天
       *[other] { $count } 天
    }
web-overview-platform = 平台
web-overview-workspace = 工作區
web-overview-channel = 頻道
web-overview-all = 全部
web-overview-show = 顯示
web-overview-questions = 問題
web-overview-cost = 費用
web-overview-per-day = 每日問題數
web-overview-cost-per-day = 每日費用
web-overview-as-table = 以表格顯示
web-overview-day = 日期
web-overview-providers = 搜尋服務
web-overview-providers-hint = 依據最近 { $count } 次搜尋。
web-overview-provider = 服務
web-overview-found = 有結果的搜尋
web-overview-failed = 失敗的搜尋
web-overview-last-failure = 最近一次失敗
web-overview-latest = 最近的問題
web-overview-question = 問題
web-overview-state = 結果
web-overview-asked = 提問時間
web-overview-nothing = 這段時間、這個範圍內沒有提問。
web-overview-everything = 顯示所有範圍最近 90 天的內容
web-overview-new = 還沒有人提問。有人在已連接的聊天或這個主控台裡提問後，這裡會顯示問了什麼、哪些未能回答、花費多少。
web-overview-ask = 提出第一個問題
web-overview-csv = 下載每日資料（CSV）
web-overview-json = 全部數字匯出 JSON

### The documents that are searched, for operators

sources = 資料
sources-none = 還沒有文件。可以上傳檔案或新增資料夾，也可以在設定中指定資料夾。
sources-unindexed = 還沒有索引任何文件：請先執行 `footnote index FOLDER`。
sources-path-gone = 沒有檔案或資料夾 { $path }：請更正 --docs 或 FOOTNOTE_DOCS。
sources-sum =
    { $found ->
        [0] 沒有找到檔案。
       *[other] 共 { $found } 個檔案，可搜尋 { $documents } 個。
    }
sources-starts = { -brand } 正在以新的文件啟動，需要幾秒鐘。
sources-folders = 資料夾
sources-index = 立即重新建立索引
sources-index-one = 重新索引此資料夾
sources-index-why = 只讀取新增、更動過或先前讀不了的檔案。
sources-indexing = 正在建立索引……
sources-looked = 上次檢查：
sources-next = 下次檢查：
sources-changed = 最近讀取：
sources-number = { $count }
sources-document = 可搜尋
sources-stale = 以舊版本搜尋
sources-copy = 與其他檔案文字相同
sources-empty = 空檔案
sources-large = 過大
sources-unreadable = 無法讀取
sources-kind = 不支援的類型
sources-hidden = 隱藏檔案
sources-other = 連結和沒有權限的檔案
sources-folder = 未查看的資料夾
sources-readers = 誰可以閱讀
sources-documents = 文件
sources-everybody = 所有可以提問的人
sources-channels = 頻道 { $ids }
sources-people = 人員 { $ids }
sources-slack-groups = 使用者群組 { $ids }
sources-discord-roles = Discord 身分組 { $ids }
sources-console-users = 主控台使用者 { $ids }
sources-console-groups = 主控台群組 { $ids }
sources-others = 同時搜尋
sources-server = { $name }（模型上下文協定伺服器）：{ $readers }
sources-chat = { $name }：在那裡提問時搜尋其中的對話
sources-find = 搜尋索引
sources-all = 索引在全部文件中找到的內容，最相關的在前。
sources-hidden-from = 索引找到的內容，最相關的在前；不含你無權閱讀的文件：{ $names }。
sources-found =
    { $count ->
        [0] 什麼也沒有找到。
       *[other] { $count } 個段落。
    }
sources-open = 在此處開啟
sources-read = 讀取於
sources-same = 與 { $path } 文字相同
sources-no-ending = 沒有副檔名
sources-list-end = 這裡沒有更多檔案。
sources-back = 上一頁
sources-more = 下一頁
sources-gone = 此檔案或資料夾已不在文件之中。
sources-is-set = 在主控台之外設定，即 { $name }。
sources-is-added = 在此處新增。
sources-uploads = 上傳的檔案
sources-manage = 檢視或移除
sources-add = 新增文件
sources-add-why = 在此處新增的內容，所有可以提問的人都能讀到，除非有文件集限制讀者。
sources-shut = 要允許維運人員在此新增或移除文件，請設定 { $name }。
sources-upload = 上傳檔案
sources-upload-why = 文字、Markdown、HTML、PDF、Word、PowerPoint、Excel 等，每個最大 { $limit } 百萬位元組，一次最多十個。
sources-upload-now = 上傳
sources-replace = 取代同名檔案
sources-no-file = 請至少選擇一個檔案。
sources-not-read = 不支援檔案 { $name } 的類型。支援文字、Markdown、HTML、PDF、Word、PowerPoint、Excel、OpenDocument、EPUB 和 CSV。
sources-exists = 已有檔案 { $name }。勾選「取代同名檔案」即可取代。
sources-not-stored = 無法儲存檔案 { $name }：{ $why }。
sources-add-folder = 新增此伺服器上的資料夾
sources-add-look = 檢視其內容
sources-add-found = { $path } 有 { $found } 個檔案，其中 { $documents } 個可以讀取。所有可以提問的人都將能讀到它們。
sources-add-sure = 新增資料夾
sources-add-not = 取消
sources-no-folder = 「{ $path }」不是 { -brand } 可以讀取的資料夾。請填寫它在此伺服器上的完整路徑。
sources-own-folder = 「{ $path }」包含 { -brand } 自己的資料夾，或位於其中。請指定其他資料夾。
sources-followed = 「{ $path }」已在搜尋之列。
sources-drop = 移除資料夾
sources-drop-why = 檔案仍留在原處，只是不再搜尋。
sources-drop-sure = 移除

# 在主控台中連接聊天平台和模型，以及狀態頁面。
connect = 連接 { $name }
connect-slack-app = 建立應用程式。連結已帶上全部設定：選擇您的工作區，然後依序點按「Next」和「Create」。
connect-slack-open = 在 Slack 建立應用程式
connect-slack-bot = 選擇「Install App」，把應用程式安裝到您的工作區，然後複製「Bot User OAuth Token」。
connect-slack-bot-field = Bot User OAuth Token（xoxb-…）
connect-slack-socket = 在「Basic Information」的「App-Level Tokens」下選擇「Generate Token and Scopes」，加入 connections:write，產生權杖並複製。
connect-slack-socket-field = 應用程式層級權杖（xapp-…）
connect-slack-connected = 用 /invite { $name } 邀請它加入頻道，然後提及它。
connect-discord-app = 選擇「New Application」。在「Bot」下選擇「Reset Token」，並複製權杖。
connect-discord-open = 開啟您在 Discord 的應用程式
connect-discord-intent = 在同一頁面開啟「Message Content Intent」。
connect-discord-enter = 填寫權杖。
connect-discord-field = 機器人權杖
connect-discord-connected = 用上面的連結把它加入您的伺服器，然後用 /ask 提問，或者提及它。
connect-claude-key = 在 Anthropic 建立 API 金鑰並複製。
connect-claude-open = 開啟您的金鑰頁面
connect-claude-enter = 填寫金鑰。
connect-claude-field = API 金鑰（sk-ant-…）
connect-claude-connected = 現在由 Claude 搜尋、閱讀並撰寫回答。
connect-copy = 或者複製應用程式的設定（manifest）
connect-entered = 已填寫。留空即沿用。
connect-missing = 請填寫此項。
connect-test = 測試並連接
connect-lines = 只顯示 .env 的內容
connect-lines-shown = 測試通過。請把這幾行寫入 { -brand } 執行處的 .env，然後重新啟動。它們只顯示一次，不會保存。
connect-starting = { -brand } 正在以新設定啟動……
connect-connecting = 正在連接 { $name }……
connect-checking = 正在檢查……
connect-given = { $name } 是在主控台之外設定的（{ $names }）：請在那裡修改。
connect-off = 此處不能填寫，因為其他人可能存取這個主控台。請在 { -brand } 執行處設定 { $names }，或者用 FOOTNOTE_CONSOLE_SETUP=on 允許填寫。
connect-kept-why = 您填寫的內容會加密保存在 { -brand } 執行的地方。
connect-drop = 中斷連接
connect-drop-why = { -brand } 不再使用 { $name }，並刪除在此處填寫的內容。
status = 狀態
status-again = 重新檢查
status-checked = 檢查時間
status-connected = 已連接
status-works = 正常
status-problem = 有問題
status-note = 提示
status-off = 未設定
status-checking = 檢查中

## Why a file is not read; the kinds of files

unread-folder = 無法開啟資料夾（{ $why }）。
unread-shut = 無法開啟（{ $why }）。
unread-cannot = 無法讀取（{ $why }）。
unread-not-regular = 這不是一般檔案。
unread-exchanged = 讀取資料夾時，該檔案被換成了連結。
unread-link-nowhere = 連結沒有指向任何檔案。
unread-link-out = 連結指向索引資料夾之外。
unread-no-text = 其中沒有文字。
unread-too-large = 大小為 { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB，{ $kind }的上限是 { NUMBER($most, maximumFractionDigits: 6) } MB：請分割成較小的檔案。
unread-too-large-pictures = 大小為 { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB，{ $kind }的上限是 { NUMBER($most, maximumFractionDigits: 6) } MB：請分割成較小的檔案，或縮小其中的圖片後再儲存。
unread-slow = 讀取超過 { $seconds } 秒：請分割，或轉換為文字。
unread-memory = 讀取所需的記憶體超過 { $most }：請分割成較小的檔案。
unread-broke = 讀取程式在處理該檔案時當掉：請重新儲存，或轉換為文字。
unread-kept = 在能夠讀取之前，保留其 { $date }的文字。
unread-empty = { $name } 是空的，沒有可讀的內容。
unread-kind = { -brand } 無法讀取 { $name }（{ $what }）；請另存為 PDF、.docx、HTML 或文字，或貼上其文字。
unread-image = { -brand } 無法讀取 { $name }（{ $what }）；請另存為 PNG、JPEG、WebP 或 GIF，並隨問題一起傳送。
unread-old = { $name } 是舊格式（{ $what }）；請開啟並另存為 { -brand } 可讀取的 { $ending }。
unread-locked = { $name } 設有密碼；請儲存一份沒有密碼的複本，或貼上其文字。
unread-beginning = { $name } 已損壞：其開頭不符合 { $kind } 檔案的格式；請提供另一份複本。
unread-man = { $name } 的副檔名是手冊頁的，內容卻不是；如要作為文字讀取，請將副檔名改為 .txt。
unread-broken = { $name } 已損壞（{ $what }）；請開啟並重新儲存，或提供另一份複本。
unread-entities = { $name } 宣告了自己的實體，任何辦公軟體都不會這樣寫；請開啟並重新儲存，或貼上其文字。
unread-unpacked = { $name } 解壓縮後超過 { -brand } 可讀取的大小（共 { NUMBER($size, maximumFractionDigits: 0) } MB）；請分割成較小的文件，或貼上需要的部分。
unread-part = { $name } 解壓縮後超過 { -brand } 可讀取的大小（單一部分 { NUMBER($size, maximumFractionDigits: 0) } MB）；請分割成較小的文件，或貼上需要的部分。
unread-paragraph = { $name } 含有超過 { $most } MB 的段落或列，正常的文件不會如此；請貼上需要的文字。
unread-entries = { $name } 含有超過 { $most } 個檔案，正常的文件不會如此；請提供文件本身。
unread-gzip-large = { $name } 解壓縮後超過 { $most }；請分割成較小的檔案。
unread-gzip-broken = { $name } 是已損壞的 gzip 檔案；請重新壓縮，或提供其中的檔案。
unread-pdf-pictures = { $name } 是只有圖片、沒有文字的 PDF 文件；請提供經過文字辨識（OCR）的版本，或貼上其文字。
unread-pdf-broken = { $name } 是已損壞的 PDF 文件；請提供另一份複本，或貼上其文字。
unread-pdf-locked = { $name } 是設有密碼的 PDF 文件；請提供沒有密碼的版本，或貼上其文字。
unread-epub = { $name } 是有複製保護的 EPUB 書籍；請提供沒有保護的版本，或貼上需要的文字。
unread-notebook = { $name } 是已損壞的 Jupyter 筆記本；請開啟並重新儲存，或匯出為 HTML。
unread-outlook = { $name } 是已損壞的 Outlook 郵件；請重新儲存，或另存為 .eml。
unread-code = { $name } 是壓縮過的程式碼；請提供產生它的原始碼。
unread-pandoc = pandoc 無法讀取 { $name }；請另存為 PDF、.docx、HTML 或文字。
unread-no-pandoc = 讀取 { $name } 需要 pandoc：請安裝它，或執行 pip install 'footnote-bot[pandoc]'。
unread-crashed = 無法讀取 { $name }：讀取程式當掉了，或需要超過 { $most } 的記憶體；請貼上其中的文字。
unread-hungry = 讀取 { $name } 需要超過 { $most } 的記憶體；請拆分它，或貼上需要的部分。
unread-made-slow = { $name } 的結構使讀取時間過長；請貼上其中的文字。
unread-scripted = { $name } 中沒有不用瀏覽器就能讀取的文字；請貼上文字。
unread-unsearchable = { $name } 太長，或其結構使尋找段落的時間過長；請貼上需要的部分。
gate-login = { $name } 只顯示登入表單；請貼上文字，或給出公開的頁面。
gate-check = { $name } 只允許瀏覽器存取，顯示的是驗證頁面；請貼上文字。
gate-script = { $name } 用 JavaScript 顯示文字，只有瀏覽器能讀取；請貼上文字。
gate-missing = { $name } 不存在：網站在該處顯示錯誤頁面；請檢查網址。
gate-sale = { $name } 已不存在：其網址正在出售；請另找一個。
gate-preview = { $name } 對未付費者只顯示預覽；請貼上文字，或給出免費的頁面。
gate-cookies = { $name } 只顯示關於 Cookie 的詢問；請貼上文字。
file-lost = 檔案 { $name } 已不在了：請重新附上。
disk-unmounted = { $path } 所在的磁碟沒有掛載；已編入索引的內容會保留。
what-image = 圖片
what-media = 圖片、音訊或影片
what-sound-video = 音訊或影片
what-audio = 音訊檔案
what-video = 影片
what-font = 字型
what-archive = 壓縮檔
what-program = 程式
what-database = 資料庫
what-binary = 二進位檔案
what-xml = XML 文件
what-type = 類型 { $type }
what-gzip = 用 gzip 多次壓縮
what-xlsb = Excel 二進位活頁簿（.xlsb）
what-iwork = 蘋果 Pages、Numbers 或 Keynote 的文件
what-doc = 舊版 Word 文件（.doc）
what-xls = 舊版 Excel 活頁簿（.xls）
what-ppt = 舊版 PowerPoint 簡報（.ppt）
what-office = 舊版 Office 文件
what-zip = 與 Office 文件相同的 ZIP 檔案
what-document = 文件
what-word = Word 文件
what-sheets = Excel 活頁簿
what-slides = PowerPoint 簡報
what-opendocument = OpenDocument 檔案
what-epub = EPUB 書籍
format-text = 純文字
format-man = 手冊頁
format-notebook = Jupyter 筆記本
format-mail = 郵件
format-outlook = Outlook 郵件
format-subtitles = 會議記錄
format-settings = 設定檔
format-log = 記錄檔
format-code = 原始碼
format-gzipped = 用 gzip 壓縮的{ $kind }

## Said in several places

sentences = { $first }{ $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] 位元組
    [1] kB
    [2] MB
   *[3] GB
}
listed = { $first }、{ $next }
storage-sqlite = SQLite（{ $path }）
storage-postgres = PostgreSQL（{ $host }，資料庫 { $name }）

# The names of the parts that are checked
part-kept = 在主控台中設定
part-storage = 儲存
part-uploads = 上傳的檔案
part-documents = 文件
part-changes = 變更檢查
part-extras = 附加元件
part-rights = 權限
part-network = 網路
part-meaning = 依語意搜尋
part-search =
    搜尋（{ $name ->
        [local] 文件
       *[other] { $name }
    }）
part-reader = 閱讀服務
part-browser = 瀏覽器
part-model = 模型
part-budget = 預算
part-console = 主控台

# What the checks find
check-slow = { $seconds } 秒內沒有回應。請檢查網路，然後重試。
check-broke = 意外失敗（{ $error }）。詳情請見記錄。
check-storage = { $place }運作正常。
check-storage-open = 這台機器上的其他使用者可以讀取 { $folder } 中的 { $names }。`chmod -R go= { $folder }` 可以阻止他們。
check-storage-full = 磁碟空間只剩 { $free }:請清出一些空間。
check-uploads =
    { $count ->
        [0] 沒有保存上傳的檔案。
       *[other] 保存了 { $count } 個上傳的檔案，共 { $size }。
    }
check-uploads-today = 今天上傳了 { $sent }，單人最多 { $most }。
check-uploads-limit = 每人每天可以上傳 { $limit }。
check-budget =
    { $usd ->
        [0] 今天沒有花費。
       *[other] 今天花費了 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元。
    }
check-budget-limits = 上限：{ $limits }。
check-budget-question = 每個問題 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-budget-person = 每人每天 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-budget-channel = 每個頻道每天 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-budget-workspace = 每個工作區每天 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-documents-missing = { $paths } 處什麼也沒有。請更正 FOOTNOTE_DOCS，或者建立它。
check-documents-none = 還沒有索引任何內容。請在「資料」頁面新增文件，或執行 `footnote index FOLDER`。
check-documents =
    { $path } 中{ $count ->
        [0] 沒有已索引的文件。
       *[other] 索引了 { $count } 份文件。
    }
check-documents-unread = { $files } 個檔案中有 { $count } 個屬於不讀取的類型（{ $kinds }）。
check-documents-lost = 以下 { $count } 個檔案只讀出了不到 90% 的詞：{ $names }。
check-documents-stale = 以下 { $count } 個檔案現在無法讀取，仍搜尋其先前的文字：{ $names }。
check-changes-none = 沒有追蹤任何資料夾。用 FOOTNOTE_DOCS 指定要追蹤的資料夾。
check-changes-start = 因為 FOOTNOTE_DOCS_POLL 是 0，`footnote serve` 只在啟動時檢查變更。
check-changes = `footnote serve` 每 { $seconds } 秒檢查一次變更，大資料夾的間隔更長。
check-changes-never = 目前還沒有檢查過。
check-changes-last = 上次檢查在 { $at } UTC。
extra-needed = { $use } 需要附加元件「{ $extra }」：{ $install }
extra-browser = 由指令碼產生的網頁
extra-discord = Discord
extra-mcp = Model Context Protocol
extra-office = Excel 活頁簿、Outlook 郵件
extra-openai = 透過 OpenAI 介面使用的模型
extra-otel = OpenTelemetry 鏈路追蹤
extra-pandoc = RTF、LaTeX、DocBook、MediaWiki、Textile
extra-postgres = PostgreSQL 及其佇列
extra-slack = Slack
extra-sso = 主控台的單一登入
extra-vectors = 依語意搜尋文件
check-extras-all = 已全部安裝。
check-extras-one = { $extra }（{ $use }）
check-extras = 未安裝：{ $extras }。用 `{ $install }` 安裝，只寫需要的即可。
check-rights-none = 所有可以提問的人都能搜尋全部文件。要加以限制，請在 footnote.toml 中宣告 [[collections]]。
check-rights = 「{ $name }」（{ $count }）：{ $who }。
check-rights-others = 其他所有文件（{ $count }）：所有可以提問的人。
check-rights-unindexed = 尚未索引
check-rights-ever = 沒有 FOOTNOTE_DOCS 時，會搜尋曾經索引過的所有內容。
check-network = 代理 { $proxy } 有回應。
check-network-authorities = 也信任 { $path } 中的憑證授權單位。
check-network-none = 沒有設定代理。
check-network-pages = 網頁透過 { $proxy } 讀取（{ $target }）。
check-network-names = 這台機器無法解析網際網路上的名稱。FOOTNOTE_FETCH_PROXY_TARGET=unresolved 可以把這件事交給代理。
check-network-direct = 讀取網頁不經過代理。
check-network-bypass = 不經過代理存取：{ $hosts }。
check-meaning-off = 文件只依詞語搜尋。要同時依語意搜尋，請設定 FOOTNOTE_EMBEDDINGS_URL。
check-meaning = { $model } 有回應，向量有 { $count } 維。
check-meaning-vectors =
    { $count ->
        [0] 還沒有索引任何內容。
       *[other] { $count } 個段落中有 { $having } 個已有向量。
    }
check-meaning-missing = `footnote index` 會產生缺少的向量。
check-search = 測試搜尋成功。
check-search-price = 一次搜尋的費用是 { NUMBER($usd, minimumFractionDigits: 2) } 美元，加上一次呼叫 { $model } 的詞元費用。
check-search-quota = 本月的 { $most } 次請求還剩 { $left } 次。
check-search-unlimited = 該方案沒有每月上限。
check-search-rate = 該方案允許更高的每秒請求數：設定 FOOTNOTE_BRAVE_RATE={ $rate } 即可用上。
check-search-credits = 還剩 { $left } 點額度。
check-search-used = { $most } 點額度已用 { $used } 點。
check-search-found =
    { $count ->
        [0] 測試搜尋沒有找到任何內容。
       *[other] 測試搜尋找到了 { $count } 個網頁。
    }
check-search-silent = 沒有回應的搜尋引擎：{ $names }。
check-mcp = 用 { $tools } 搜尋。
check-mcp-read = 用 { $tool } 讀取頁面。
check-mcp-others = 其他 { $count } 個工具從不呼叫。
check-reader-off = 沒有。要讓服務讀取需要瀏覽器的網頁，請設定 FOOTNOTE_READER_URL。
check-reader = { $name } 有回應：讀取了 { $url } （{ $count } 個字元）。
check-browser-off = 沒有。要讀取由指令碼產生的網頁，請設定 FOOTNOTE_BROWSER。
check-browser = Chromium { $version } 可以啟動。
check-browser-open = 它在沒有沙箱的情況下執行，惡意網頁可能取得 { -brand } 的權限。
check-model = { $name } 有回應。
check-model-none = 沒有：回答是最接近的段落。請在主控台連接 Claude，或設定 ANTHROPIC_API_KEY；要用 OpenAI 或自己的模型，請設定 FOOTNOTE_MODEL=openai:NAME。
check-platform-off = 未連接。請在主控台連接，或設定 { $names }。
check-discord =
    { $name } { $count ->
        [0] 還沒有加入任何伺服器。
       *[other] 已加入 { $count } 個伺服器。
    }
check-discord-invite = 在 { $url } 可以把它加入伺服器。
check-discord-strangers = 任何人都可以為自己安裝它，而 { $setting } 讓他們能搜尋文件。請在「Installation」下關閉「User Install」，或取消這項設定。
check-discord-endpoint = 應用程式把指令傳送到「Interactions Endpoint URL」，所以 { -brand } 收不到。請在 https://discord.com/developers/applications 的「General Information」中清空這一欄。
check-discord-intent = Discord 不向 { -brand } 顯示沒有提及它的訊息，所以追問也需要提及它。請在 https://discord.com/developers/applications 的「Bot」、「Privileged Gateway Intents」中開啟「Message Content Intent」。
check-discord-token = Discord 不接受 DISCORD_TOKEN。請在 https://discord.com/developers/applications 的「Bot」、「Reset Token」中重新複製權杖。
check-discord-away = 無法連線到 Discord。請檢查網路和 https://discordstatus.com ，然後重試。
check-slack = @{ $bot } 在 { $team } 中。
check-slack-socket = 通訊端模式運作正常。
check-slack-http = 傳到 /slack/events 的事件會經過驗證。
check-slack-unused = 設定了 SLACK_BOT_TOKEN 時，不會使用 SLACK_CLIENT_ID。
check-slack-searched =
    { $meaning ->
        [True] 依語意搜尋訊息
       *[other] 搜尋訊息
    }（{ $kinds }）。
slack-public-channel = 公開頻道
slack-private-channel = 私人頻道
slack-mpim = 群組訊息
slack-im = 私人訊息
check-slack-unsearched = 不搜尋訊息，因為應用程式缺少權限 { $scope }。
check-slack-unsearchable = 無法搜尋訊息（{ $detail }）。
check-slack-files = 也搜尋檔案。
check-slack-no-files = 不搜尋檔案，因為應用程式缺少權限 { $scope }。
check-slack-installed =
    { $count ->
        [0] 還沒有工作區安裝這個應用程式。
       *[other] 有 { $count } 個工作區安裝了這個應用程式：{ $names }。
    }
check-slack-install = 在 { $url } 安裝，之後 Slack 會返回 { $back } 。
check-slack-scopes =
    { $team ->
        [none] {""}
       *[other] 在 { $team } 中，
    }Slack 應用程式缺少 { $count } 項權限：{ $names }。請在 https://api.slack.com/apps 的「OAuth & Permissions」中補上（或把 adapters/slack/manifest.yaml 貼到「App Manifest」），然後重新安裝應用程式。
check-slack-revoked = Slack 不再接受 { $team } 的權杖。請在 { $url } 重新安裝應用程式。
check-slack-token = Slack 不接受 { $setting }（{ $code }）。請在 https://api.slack.com/apps 從應用程式的頁面重新複製。
check-slack-secret = SLACK_SIGNING_SECRET 不是 32 位十六進位數字。請在 https://api.slack.com/apps 從應用程式的「Basic Information」複製簽署密鑰。
check-slack-kind = { $setting } 不以 { $beginning } 開頭，是另一種權杖。請在 https://api.slack.com/apps 從應用程式的「{ $page }」複製正確的權杖。
check-slack-away = Slack 在 { $url } 沒有回應。請檢查網路或 FOOTNOTE_SLACK_API_URL。
check-slack-socket-scope = SLACK_APP_TOKEN 缺少 connections:write。請在 https://api.slack.com/apps 應用程式的「Basic Information」中建立帶有它的新應用程式層級權杖。
check-slack-socket-off = Slack 不開啟通訊端模式連線（{ $code }）。請在 https://api.slack.com/apps 為應用程式開啟通訊端模式。
check-console = `footnote serve` 在 { $place } 開啟它。
check-console-shut = 但沒有人可以在那裡提問。
check-console-list = { $setting } 沒有包括主控台：請把 { $id } 加入清單。
check-console-without = 不需要主控台時，請設定 FOOTNOTE_CONSOLE=off。
check-console-off = 已關閉。要在瀏覽器中提問，請取消 FOOTNOTE_CONSOLE。
check-console-closed = 未開放，因為其他人可能存取它。要開放，請設定 FOOTNOTE_CONSOLE_TOKEN 或 FOOTNOTE_OIDC_ISSUER。
check-sso = { $issuer } 負責登入，有 { $count } 個金鑰。請在那裡把 { $redirect } 登記為重新導向位址。
check-sso-out = 請把 { $address } 登記為登出後的位址。
kept-folder-gone = 沒有資料夾 { $path }。
kept-given = { $name } 已在主控台之外設定。請在那裡修改。
kept-key-gone = 在主控台填寫的金鑰和權杖無法解密：{ $where } 遺失、無法讀取，或是另一個金鑰。請放回正確的金鑰，或重新填寫。
kept-key-none = 機密內容只以加密形式保存。請把 FOOTNOTE_ENCRYPTION_KEYS 設為 `footnote keys new` 輸出的金鑰，並與資料庫分開保管。
kept-key-unreadable = 無法讀取 { $path }（{ $why }）。
kept-key-other = { $path } 不是 { -brand } 寫在那裡的金鑰。
kept-key-unwritten = 無法寫入 { $path }（{ $why }）。

# What services answer
api-of = { $name } 的 API
wiki-at = { $host } 上的維基
embeddings-endpoint = 向量嵌入服務
claude-search = Claude 的網頁搜尋
search-late = { $seconds } 秒內沒有回應：請稍後再試。
search-rate = { $title }暫時不再接受請求：請稍後再試。
search-down = { $title }忙碌或已停機（HTTP { $status }）：請稍後再試。
search-redirect = { $title }重新導向到了別處，不會跟隨：請檢查 { $place }。
search-refused = { $title }不接受該請求（HTTP { $status }）。
search-access = { $title }拒絕存取：請在那裡允許這台機器，或檢查 { $place }。
search-key = { $title }不接受金鑰：請更正 { $key }。
search-quota = { $title }的配額已用完：請提高方案上限，或把它移出 FOOTNOTE_PROVIDERS。
search-garbled = { $title }傳回的內容無法讀取：請檢查 { $place }。
search-slow = { $title }沒有及時回應：請稍後再試。
search-away = 無法連線到{ $title }：請檢查網路和 { $place }。
service-other = { $host }有回應，但與{ $service }不同：請檢查 { $url }。
service-slow = { $model } 超過 { $seconds } 秒才回應：請重試，或調大 FOOTNOTE_MODEL_TIMEOUT。
service-away = 無法連線到{ $host }，或連線中斷：請檢查網路，然後重試。
service-garbled = { $host }傳回的內容無法讀取：請重試，或檢查 { $url }。
service-unpaid = { $key } 的帳戶無法支付這次請求：{ $words }
service-key = { $host }不接受 { $key }：{ $words }。請更正金鑰或其權限。
service-unknown = { $host }沒有模型 { $model }：請把 { $setting } 設為可用的模型。
service-nothing = { $host }沒有 { $protocol }：請更正 { $url }（{ $form ->
    [without] 不帶 /v1
   *[with] 帶 /v1
 }）。
service-busy = { $host }忙碌，嘗試 { $count } 次後仍沒有回應：請過一會兒再試。
service-trouble = { $host }自身有問題，嘗試 { $count } 次後仍沒有回應：請過一會兒再試。
service-refused = { $host }拒絕了對 { $model } 的請求：{ $words }
reading-service = 讀取服務 { $name }
wiki-none = { $url } 處沒有 MediaWiki API：請檢查 { $place }。
wiki-login = { $title }登入後才能讀取。
wiki-refused = { $title }不接受該請求。
wiki-no-such = { $title }中沒有這個頁面。
wiki-no-page = { $site } 中沒有名為「{ $page }」的頁面。
wiki-no-article = { $url } 不是 { $site } 的條目。
wiki-empty = { $site } 的頁面「{ $page }」沒有文字。
proxy-unconnected = 代理 { $proxy } 沒有連線到 { $host }（{ $why }）：請檢查它以及 HTTPS_PROXY、NO_PROXY 和 FOOTNOTE_CA_BUNDLE。
embeddings-quota = { $key } 中金鑰的額度已用完：請提高額度。
embeddings-unknown = { $title }不認得該位址或模型 { $model }：請檢查 { $place } 和 FOOTNOTE_EMBEDDINGS_MODEL。
brave-rate = Brave 在這一秒內不再接受請求：請稍後再試，或把 FOOTNOTE_BRAVE_RATE 設為方案允許的值。
searxng-json = SearXNG 不以 JSON 傳回結果：請在其 settings.yml 的 search.formats 中加入 json 並重新啟動。
searxng-silent = SearXNG 什麼也沒找到，且這些引擎沒有回應：{ $names }。請檢查引擎的狀態，或稍後再試。
service-toolless = { $model } 不能呼叫研究所需的工具：請把 FOOTNOTE_MODEL 設為能呼叫工具的模型。
mcp-tool = 它的工具 { $tool } 失敗了：{ $words }
mcp-refused = 它拒絕了：{ $words }
mcp-odd = 它傳送的結果不符合它宣告的格式。
mcp-credentials = 它不接受我們的憑證（HTTP { $status }）：請更正 [[mcp]] 中的 headers 或 oauth。
mcp-broke = 與它的連線中斷了：請稍後再試。
mcp-command = 無法啟動命令 { $command }：請在 [[mcp]] 中更正。
mcp-away = 無法連線到它，或它不使用該協定。
mcp-no-search = 它沒有用於搜尋的工具：{ $names }。
mcp-name-one = 請在 [[mcp]] 的 `search` 中指定一個。
browser-none = { $place } 指定的 { $name } 不是本機上的程式：請安裝 Chromium，或更正名稱。
browser-sandbox = Chromium 在此無法帶沙箱啟動：請在允許使用者命名空間的地方以非 root 使用者執行 { -brand }；在沒有其他內容的容器中，可以設定 { $setting }=off。
browser-dead = Chromium（{ $name }）無法啟動：請手動試試，或更正 { $place }。
sso-issuer = FOOTNOTE_OIDC_ISSUER 是 { $given }，但提供者自稱 { $its }：請改為後者。
sso-lacks = OpenID 提供者的探索文件中沒有可用的 { $name }。
toml-invalid = { $path } 不是有效的 TOML：{ $why }。請在其中更正。
toml-unusable = { $path } 中的文件集或伺服器無法使用。`footnote doctor` 會說明問題所在。
rights-gone = 含有文件集的 { $path } 不見了：請放回去。
rights-twice = 文件集 { $first } 和 { $second } 都有路徑 { $path }：請只保留一處。
rights-nowhere = 文件集 { $name } 的路徑 { $path } 處沒有檔案或資料夾：請更正。
rights-outside = 文件集 { $name } 的路徑 { $path } 不在被搜尋的文件（{ $docs }）之內：請更正，或加入 FOOTNOTE_DOCS。
