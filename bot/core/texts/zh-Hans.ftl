# Footnote 的简体中文文案。编号与变量须与 en.ftl 一致。

-brand = Footnote

## 进行中

working = 正在查找资料……
queued =
    { $ahead ->
        [0] 已排队，下一个就轮到你。
       *[other] 已排队，前面还有 { $ahead } 个问题。
    }
stopping = 正在停止……
stopped = 已停止。
nothing-running = 这里没有正在进行的任务，无需停止。
stopping-count = 正在停止 { $count } 个问题……
edited-question = 问题已修改，正在重新回答……

## 计划中的步骤

step-rewrite = 理解问题
step-search = 搜索：{ $title }
step-read = 阅读：{ $title }
step-think = 思考
step-plan = 制定研究计划
step-draft = 起草
step-revise = 修订
step-write = 撰写回答
step-check = 核对脚注
step-other = { $title }
step-searches = 搜索 { $count } 次
step-pages = 阅读 { $count } 页
exhaustive-price =
    { $usd ->
        [-1] 最多搜索 { $searches } 次，最长 { $minutes } 分钟，费用未知。随时可以停止，届时给出已找到的内容。
       *[other] 最多搜索 { $searches } 次，最长 { $minutes } 分钟，费用最多约 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元。随时可以停止，届时给出已找到的内容。
    }
exhaustive-round = 搜索 { $searches } 次后（最多 { $most } 次）：找到 { $facts } 项事实
elapsed = 已用 { NUMBER($seconds, maximumFractionDigits: 0) } 秒
more-steps = 还有 { $count } 个步骤

## 回答之后

sources-heading = 来源
more-sources = 还有 { $count } 个来源
preview-edited = 问题后来被修改了，请点击链接查看新的回答。
preview-sources = { $count } 个来源
text-given-by = 文本由 { $name } 提供
answer-place-gone = 我已无法在那里发布“{ $question }”的回答：该频道已被归档，或者我已被移出。请在这里或其他频道重新提问。
answer-refused = 平台没有接受对“{ $question }”的回答（{ $code }）。请要求更短的回答，或联系工作区管理员。
unverified = ⚠ 未经证实：“{ $sentence }”（{ $reason }）
disagrees = ⚖ 来源说法不一：“{ $sentence }”，而 [{ $number }] 称“{ $quote }”
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } 秒 · 搜索 { $searches } 次 · 阅读 { $pages } 页{ $cost ->
        [0] { "" }
       *[other] { " · " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 美元
    }
summary = { $spent } · 编号 { $run }
details-button = 来源与查找过程
partly-answered = ◐ 部分回答。未找到：{ $what }
doubts-counted = ⚠ 有 { $count } 句没有得到来源支持
disagreements-counted = ⚖ 来源对 { $count } 句说法不一
notes-counted = ⓘ 关于查找过程有 { $count } 条说明
searched-for = 搜索词：{ $queries }
follow-ups-heading = 接下来可以问

## 按钮

stop-button = 停止
dig-deeper = 深入研究
feedback-good = 有帮助
feedback-bad = 没帮助
feedback-thanks = 谢谢！你的反馈已与这条回答一并保存。
feedback-ask-why = 谢谢！你的反馈已与这条回答一并保存。有什么问题？
delete-answer = 删除这条回答
delete-answer-ask = 这会移除这里的回答，并从存储中删除你的问题和回答，且无法恢复。
delete-answer-yes = 删除
delete-answer-no = 取消
delete-answer-not-yours = 只有提问的人可以删除这条回答。

## 遇到问题时

no-question = 想了解什么？请在提及我之后直接写下问题，或使用 /ask。
question-too-long = 你的问题有 { $length } 个字符，而我最多能读 { $most } 个。请缩短它，或把长的部分作为文件附上。
files-question = { $names } 讲了什么？
failed = 这个问题没能完成：{ $reason }
retry-button = 重试
cannot-open-thread = 我没有在这里创建讨论串的权限，所以直接在频道里回答。频道管理者可以授予我该权限。
cannot-read-history = 我看不到这里之前的消息，只知道直接问我的内容。频道管理者可以授予我该权限。
history-too-slow = 我没能及时读完这里之前的消息，只知道直接问我的内容。稍后再问也许可以。
asked-by = { $name } 问：{ $question }
question-of = { $name } 的提问
only-for-command = 我不是这里的成员，只能通过你的命令回答，而且只有 15 分钟。服务器管理者可以邀请我加入。
answer-in-file = 回答太长，一条消息放不下。全文见文件。
answer-comes-directly = 研究所需的时间超过了 Discord 允许我在此回答命令的 15 分钟。回答将以私信发给你。
direct-closed = 研究所需的时间超过了 Discord 允许我在此回答命令的 15 分钟，而我无法给你发私信。请允许私信后再问一次。
only-for-minutes = 我不是你提问之处的成员，Discord 只允许我在 15 分钟内回答那里的命令。这次用时更长，所以在这里回答。
only-so-many-messages = 我不是你提问之处的成员，Discord 只允许我为一个命令发几条消息，所以在这里回答。
cannot-post = 我没有在那个频道发言的权限。频道管理者可以邀请我加入，或授予我该权限。
file-not-read = 无法读取文件 { $name }：{ $reason }
file-gone = 无法读取文件 { $name }：它已被删除。
file-hidden = 无法读取文件 { $name }：工作区超出了套餐的限额，文件已被隐藏。
file-elsewhere = 无法读取文件 { $name }：它保存在其他服务中。请直接分享文件本身。
file-not-shown = 无法读取文件 { $name }：我在这里看不到它。请重新分享，或粘贴其中的文字。
file-is-canvas = 无法读取 { $name }：平台不提供画布或列表的文件。请粘贴其中的文字，或分享导出的文件。
link-not-read = 无法读取 { $url }：{ $reason }
more-elsewhere = 我还在只有你能看到的地方找到了更多内容。给我发私信提问，我就会一并搜索。
more-elsewhere-here = 关于你在 { $channel } 的提问：我在并非所有人都能看到的频道里还找到了更多内容。在这里问我，我就会一并搜索。
documents-dated =
    { $after ->
        [none] { $before } 以前
       *[other]
            { $before ->
                [none] { $after } 以来
               *[other] { $after } 至 { $before }
            }
    }
documents-narrowed = 只搜索了：{ $only }
documents-unmatched =
    没有文档符合：{ $only }。{ $names ->
        [none] {""}
       *[other] 相近的名称：{ $names }。
    }
documents-widened = 以下范围的文档中没有找到内容：{ $only }。已改为搜索全部文档。
search-widened =
    { $domains ->
        [any] {""}
       *[other] 在 { $domains } 上
    }{ $freshness ->
        [day] 没有找到最近一天的内容
        [week] 没有找到最近一周的内容
        [month] 没有找到最近一个月的内容
        [year] 没有找到最近一年的内容
       *[any] 没有找到内容
    }，因此我放宽限制再次搜索。
links-left-out = 另有 { $count } 个链接没有读，因为超出了一次回答的限额。
try-again = 刚才没能保存，请稍后再试。
not-kept = 刚才没能收下你的问题，请过一分钟再问一次。
command-broke = 刚才没有成功，请过一分钟再试。
run-broke = Footnote 内部在运行 { $run } 中出错：可以再问一次；如果仍然不行，请把这个运行编号告诉管理员。
question-gone = 这个问题已经找不到了，请再问一次。
suggestion-gone = 这个建议已经不在了。请直接在讨论串里提问。
answer-out-of-reach = 无法显示这个回答：它依据的文档不允许或已不再允许在这里阅读。
words-out-of-reach = （不显示：来自不允许在此阅读的文档）
documents-out-of-reach = { -brand } 回答期间，文档的权限发生了变化。请再问一次。
earlier-out-of-reach = 本讨论串中较早的一些回答没有使用：它们依据的文档已不再允许在这里搜索。
place-unknown = 我无法在这种频道里回答。请换一个频道提问。
asked-already = 这个已经问过了，请看它的回答，或稍等片刻。

## 谁可以提问

denied-workspace = 这个工作区尚未启用 { -brand }，{ -brand } 管理员可以开启。
denied-channel = { -brand } 不在这个频道回答问题。请换一个频道，或请 { -brand } 管理员允许在此使用。
denied-user = 你不在可以向 { -brand } 提问的名单上，{ -brand } 管理员可以把你加进去。
denied-role = 你当前的身份组不能向 { -brand } 提问。{ -brand } 管理员可以告诉你需要哪个身份组，或允许你的身份组。
denied-direct = { -brand } 不接受私信。请在频道里提问，或请 { -brand } 管理员允许私信。
denied-console = 控制台目前不能提问。{ -brand } 的运维人员可以把 { $id } 加入 { $setting } 来允许。
denied-console-roles = { $setting } 只允许有身份组的人提问，而控制台里没有身份组。{ -brand } 的运维人员可以改用 { $instead } 列出可以提问的人。
denied-guest = { -brand } 不在这里回答访客的问题，{ -brand } 管理员可以更改。
denied-unknown = { -brand } 暂时无法确认你是不是访客，而访客不能在这里提问。请稍后再问一次。
denied-day-user = 你今天的研究额度已用完。不到 { $hours } 小时后（协调世界时 00:00）可以再提问。
denied-day-channel = 本频道今天的研究额度已用完。不到 { $hours } 小时后（协调世界时 00:00）可以再在这里提问。
denied-day-workspace = 本工作区今天的研究额度已用完。不到 { $hours } 小时后（协调世界时 00:00）可以再提问。
denied-day-uploads = 每人每天可发送共 { $limit } 兆字节的文件，这些文件会超出限额。不到 { $hours } 小时后（协调世界时 00:00）可以再发送文件。
denied-day-questions = 你今天的 { $limit } 个问题都已问完。不到 { $hours } 小时后（协调世界时 00:00）可以再提问。

## 频道规则

rules-title = { -brand } 在这个频道的回答方式
rules-line = { $key }：{ $value }
rules-none = 这个频道没有单独的规则，使用通用设置。
rules-set = 设置好了。在这个频道，{ $key } 现在是：{ $value }
rules-reset = 设置好了。这个频道已恢复为通用设置。
rules-unknown = 没有名为“{ $key }”的规则。可以设置：{ $known }
rules-invalid = “{ $value }”不能用作 { $key } 的值。可选：{ $allowed }
rules-too-long = 对 { $key } 来说太长了：最多 { $most } 个字符。
rules-not-admin = 只有 { -brand } 管理员可以更改这里的回答方式。
rules-help = { $show }：查看本频道的规则；{ $set }：修改其中一条（{ $keys }）；{ $reset }：恢复通用设置。
searched-title = { -brand } 在这里搜索的内容
searched-providers = 搜索引擎：{ $names }
searched-collection = 文档“{ $name }”：{ $why }
searched-why-everybody = 所有可以提问的人
searched-why-channels = 这个频道可以搜索
searched-why-people = 你可以搜索
searched-why-slack-groups = 你所在的用户组可以搜索
searched-why-discord-roles = 你拥有的身份组可以搜索
searched-why-console-users = 你可以搜索
searched-why-console-groups = 你所在的组可以搜索
searched-others = 不属于任何文档集的文档：所有可以提问的人
searched-all = 所有已索引的文档：所有可以提问的人
searched-not = 另有 { $count } 个文档集不在这里搜索。
searched-guest = 不搜索文档：既不为访客搜索，也不在外部人员可能看到的地方搜索。
searched-unusable = 不搜索文档：{ -brand } 的运行者需要更正设置中的文档集。

## 持续关注的问题

watch-changed = 自 { $since } 以来的变化
watch-now = 现在：
watch-before = 之前：
watch-over = 已有 { $days } 天没有人在这里打开或回应，我不再关注这个问题：{ $question }
watch-begun = 我会{ $schedule }再查一次，只有答案有变化时才在这里说。编号：{ $id }。
watch-pressed = 已关注：答案有变化时会在这里告诉你。
watch-pressed-daily = 每天关注：答案有变化时会在这里告诉你。
watch-pressed-weekly = 每周关注：答案有变化时会在这里告诉你。
watch-badge =
    { $schedule ->
        [daily] 每天关注
        [weekly] 每周关注
        [paused] 关注已暂停
        [ended] 关注已结束
       *[other] 已关注
    }
watch-daily = 每天
watch-weekly = 每周
watch-cron = 按“{ $schedule }”（UTC）
watch-line = { $id }：{ $question }（{ $schedule }；{ $state }）
watch-due = 下次：{ $due }
watch-paused = 已暂停
watch-ended = 已结束
watch-looked = ，上次 { $looked }：{ $outcome }
watch-outcome-same = 没有变化
watch-outcome-changed = 有变化
watch-outcome-no-answer = 没有找到答案
watch-outcome-budget = 当天的预算已用完
watch-outcome-refused = 已不能在那里提问或发布
watch-none = 你还没有持续关注的问题。
watch-unknown = 你持续关注的问题中没有编号 { $id }。
watch-too-many =
    { $most ->
        [0] 这里不能持续关注问题。
       *[other] 你已在关注 { $most } 个问题，不能再多：请先停止一个。
    }
watch-schedule-unknown = “{ $schedule }”不是可用的时间表：请用 daily（每天）、weekly（每周）或五段的 cron 表达式，例如 "0 9 * * 1-5"（UTC）。
watch-schedule-too-often = “{ $schedule }”太频繁：两次之间至少隔一小时。
watch-done-pause = 已暂停：{ $question }
watch-done-resume = 继续关注：{ $question }
watch-done-stop = 不再关注：{ $question }
watch-help = { $command } daily 问题：持续关注一个问题（daily、weekly，或放在引号里的 cron 表达式）；{ $command }：列出你关注的问题；{ $command } pause 编号、resume 编号、stop 编号：暂停、继续、停止。
watch-button = 持续关注
watch-description = 持续关注一个问题，答案有变化时告诉你；不写问题则列出你关注的问题
watch-name = 关注
watch-question = 要关注什么；留空则列出你关注的问题
watch-every = 多久查一次：daily、weekly 或 cron 表达式（UTC）
watch-id = 你关注的一个问题的编号，用来更改它
watch-action = 对它做什么
watch-pause = 暂停
watch-resume = 继续
watch-stop = 停止
watch-heading = 持续关注的问题
watch-why = 每天再查一次最后一个问题，答案有变化时在这里发布。
watch-intro = 这些问题会按时重新查找。答案有变化时，会发布在各自的对话里。要添加问题，请在对话中选择“持续关注”。
watch-manage = 更改“{ $question }”

correction-noted = 已记下：{ $said }
correction-noted-on = 已就“{ $question }”记下：{ $said }
correction-not-kept = 这条更正没有保留：你已撤回它，或一天内已有 { $most } 条。
correction-guest = Footnote 不保留访客的更正，也不保留与其他公司共享的频道里的更正。
correction-title = 更正：{ $name }、{ $when }
correction-title-own = 你的更正、{ $when }
correction-of = 更正对这个问题的回答：{ $question }
correction-remove = 移除
correction-removed = 已移除，今后不再作为来源。
correction-unknown = 没有编号为 { $id } 的更正。
correction-not-yours = 只有更正的作者或管理员可以移除它。
correction-heading = 更正
correction-begin = 更正
correction-say = 正确的是什么？以后的问题会把它当作来源。
correction-intro = 大家指出的回答中的错误。以后的问题会把它当作来源。
correction-none = 还没有更正。在回答之后回复指出其中的错误，更正就会出现在这里。

## 被遗忘

forget-ask = 我保存着你的 { $messages } 条消息，以及给你的 { $answers } 个回答和为此找到的内容。我可以把所有频道里的这些全部忘掉，且无法恢复。已经发在这里的内容会保留，直到有人删除它。要继续，请用：{ $command }
forget-nothing = 我没有保存你写的任何内容。
forget-done =
    { $messages ->
        [0] 好了。我没有保存你写的任何内容。
       *[other] 好了。我已忘掉你的 { $messages } 条消息，以及为你找到的内容。
    }已经发在聊天里的内容会保留，直到有人删除它。
forget-help = { $command }：让我忘掉你写给我的内容。

## 主页

home-title = 提问，得到可以核实的回答
home-intro = { -brand } 会搜索、阅读网页，并为回答中的每个说法附上脚注。
home-how = 如何提问
home-how-mention = 在我所在的任意频道提及我，并写下问题。
home-how-direct = 直接给我发私信，无需提及。
home-how-follow-up = 在讨论串里回复即可追问，我记得之前说过的内容。
home-how-command = 在我所在的任何频道使用 /ask。
home-how-shortcut = 在任意消息的菜单中选择“研究一下”。
home-how-stop = 点“停止”按钮，或直接写“停止”，我就会停下。
home-connected = 已连接
home-reasoner = 思考：{ $name }
home-providers = 搜索：{ $names }
home-documents = 本地文档 { $count } 份
home-usage = 本月
home-questions = 提问 { $count } 个
home-answered = 已回答 { $count } 个
home-cost = 花费 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元

## 命令

ask-description = 研究一个问题，得到带脚注的回答
ask-question = 想了解什么
ask-question-or-form = 想了解什么；留空则打开可写长问题的表单
ask-file = 和问题一起阅读的文件
ask-depth = 研究得多深入
depth-auto = 自动
depth-quick = 快速：看一眼
depth-standard = 标准：搜索并阅读
depth-deep = 深入：用时更长，读得更多
depth-exhaustive = 穷尽：找出全部，最多搜索 150 次
depth-tag-quick = 快速
depth-tag-deep = 深入
depth-tag-exhaustive = 穷尽
stop-description = 停止这里正在进行的研究
rules-description = 查看或更改 Footnote 在这个频道的回答方式
shortcut-name = 研究一下
shortcut-check-name = 核查事实
command-accepted = 好的，这就去查：{ $question }
only-me-accepted = 我会在私信里回答，只有你能看到。
only-me-refused = 我无法给你发私信，所以无法只回答你一个人。
stop-name = 停止
forget-name = 忘记我
forget-description = 查看我保存了你写的哪些内容，并让我忘掉
forget-confirm = 选择“是”即全部忘掉，无法恢复
forget-yes = 是，忘掉
ask-name = 提问
rules-show-description = 查看 Footnote 在这个频道的回答方式
rules-set-description = 更改 Footnote 在这个频道的一项回答方式
rules-reset-description = 让这个频道恢复为通用设置
rules-key = 要设置的项目
rules-value = 设置的值

## 对话旁的面板

prompts-title = 比如
document-asked-about = “{ $title }”的要点是什么？
prompt-compare = 比较两样东西
prompt-compare-message = 热泵和燃气锅炉在成本和排放上相比如何？
prompt-explain = 解释新事物
prompt-explain-message = Python 最新版本有哪些新功能，为什么重要？
prompt-summarize = 总结一个网页
prompt-summarize-message = 用五点总结 https://zh.wikipedia.org/wiki/引用

## 回答下方的说明

budget-model-calls = { NUMBER($limit, useGrouping: 0) } 次模型调用的额度已用完。
budget-input-tokens = { NUMBER($limit, useGrouping: 0) } 个输入词元的额度已用完。
budget-usd = { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的额度已用完。
budget-seconds = { NUMBER($limit, maximumFractionDigits: 0) } 秒的时间已用完。
budget-searches = { NUMBER($limit, useGrouping: 0) } 次搜索的额度已用完。
budget-pages = { NUMBER($limit, useGrouping: 0) } 个网页的额度已用完。
budget-output-tokens = { NUMBER($limit, useGrouping: 0) } 个输出词元的额度已用完。
budget-day-user = 你今天 { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的额度已用完。
budget-day-channel = 本频道今天 { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的额度已用完。
budget-day-workspace = 本工作区今天 { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } 美元的额度已用完。
rests-on-found = 回答以此前查到的内容为依据。
quoted-without-model = 内容是在没有语言模型的情况下查找并摘录的。
closest-passages = 最接近的段落
closest-none-documents = 你的文档中没有相关内容。
closest-none = 没有找到能回答这个问题的内容。
closest-nearest = 最接近的页面：{ $pages }
validity-draft = 草稿
validity-deprecated = 已废止
validity-archived = 已归档
validity-ended = 有效期至 { $words }
validity-early = { $words } 起生效
validity-replaced =
    { $words ->
        [none] 已被取代
       *[other] 已被 { $words } 取代
    }
closest-greeting = 请提一个问题，我会摘录找到的最接近的段落，每段都附有脚注。
judged-unknown = 判断：文档中没有 { $names }
judged-open = 判断：问题没有说明所指的内容
judged-share = 判断：最佳段落包含问题内容的 { $covered }%；需要 { $enough }%
stopped-before-complete = 回答完成之前已停止。
answer-cut = 回答在达到 { NUMBER($limit, useGrouping: 0) } 个词元的上限时被截断：请少问一些，或请它继续。
research-outgrown = 材料已超出模型能接收的范围，因此研究提前结束。
part-failed = 未能查明“{ $question }”：{ $reason }
model-away = 暂时无法连接模型。管理员可以查看原因。
model-declined = 模型拒绝处理这个问题。请换一种问法。
model-unusable = 模型的回复无法使用。请重试，或缩小问题的范围。
peer-away = 暂时无法连接所需的服务。管理员可以查看原因。
peer-refused = 所需的服务拒绝了请求。管理员可以查看原因。
reply-unusable = 收到的内容无法使用。
documents-unindexed = 还有 { $count } 个文档尚未建立索引，未能搜索；请在完成后再问一次。
documents-failed = 这些文件无法读取：{ $names }。
documents-partly = 其中有一部分无法读取：{ $names }。
documents-unread = 这里的 { $files } 个文件中有 { $count } 个属于不读取的类型（{ $kinds }）。
queries-withheld = 有些查询没有发往网络，因为其中含有此处的人没有写过的内容；运行页面列出了这些查询。
search-unanswered = 搜索服务 { $names } 没有响应。
page-away = 暂时打不开，请稍后再试。
page-refused = 不允许由程序读取；请自行打开，并粘贴正文。
page-unreadable = 没有可以读取的文字；请粘贴正文。
picture-too-large = 超过 { $limit } 兆字节；请发送较小的副本。
picture-too-wide = 宽或高超过 { $limit } 像素；请发送较小的副本，或只发送重要的部分。
picture-damaged = 图片已损坏；请重新发送。
picture-too-many = 每个问题最多读取 { $limit } 张图片；其余的请随下一个问题发送。
picture-nothing = 模型在其中没有看到任何内容；请写出图片的内容。
picture-no-model = 只有使用模型时才能读取图片；请写出图片的内容。
picture-no-sight = 模型 { $model } 不能读取图片；请写出图片的内容。
month-day = { $month } 月 { $day } 日
day = { $year } 年 { $date }
picture-sent = { $name } 发送的图片，{ $date }
picture-sent-earlier = { $name } 发送的图片
price-unknown = { $model } 的价格未知，其费用未计入总额。
asked-here = 在这里
asked-elsewhere = 在另一个频道
asked-there = 在 { $place }
asked-earlier = { $date }{ $where }问过：“{ $question }”。
verify-changed =
    { $corrected ->
        [0] 有 { $left } 句与其来源不符，已删去。
       *[other] { $left ->
            [0] 有 { $corrected } 句得不到其来源的支持，已更正。
           *[other] 得不到来源支持的句子中，{ $corrected } 句已更正，{ $left } 句已删去。
        }
    }
doubt-contradicted = 脚注所说与此相反
doubt-no-footnote = 没有脚注
doubt-not-covered = 其脚注没有这样说
doubt-not-quoted = 脚注中没有提到：{ $facts }

## Reports

# Verdicts on the statements of a text
check-none = 这段文字没有可核查的内容：没有数字、日期、名称或其他事实。
check-counts = 已与找到的资料核对：{ $counts }。
check-count-supported = { $count } 条属实
check-count-partly = { $count } 条部分属实
check-count-contradicted = { $count } 条与资料矛盾
check-count-nothing = { $count } 条未找到依据
check-count-uncheckable = { $count } 条无法核查
check-supported = 属实
check-partly = 部分属实
check-contradicted = 与资料矛盾
check-nothing = 未找到依据
check-uncheckable = 无法核查
check-unsaid = 资料中没有：{ $words }
check-needs-model = 核查文本中的陈述需要语言模型。

report-limits = 没有找到的内容
report-dropped = 未能涉及：{ $topics }。
report-separator = ；
report-cut-short = 报告中届时尚未核对的部分已略去。
report-not-drafted = 未能起草报告，因此这是一份普通回答。
report-not-sourced = 报告的任何部分都未能与来源核对，因此这是一份普通回答。
report-omitted-missed = 已略去“{ $name }”：没有时间核对。
report-omitted-failed = 已略去“{ $name }”：未能核对。
report-omitted-nothing = 已略去“{ $name }”：没有找到可供核对的内容。
report-cut = ⚠ 这一部分在达到 { NUMBER($limit, useGrouping: 0) } 个词元的上限时被截断。
report-stage =
    { $stage ->
        [draft] 起草
        [query] 决定搜索什么
        [reading] 搜索并阅读
       *[revision] 修订
    }（限 { NUMBER($seconds, maximumFractionDigits: 1) } 秒）
report-stage-missed = 未能按时完成
report-stage-nothing = 没有找到任何内容
report-left-out = 已略去
report-part = 第 { $number } 部分
report-unsourced = 未与任何来源核对：{ $name }
report-deleted = 无依据，已略去：{ $name }
report-revised = 已对照 { $pages } 个网页修订，草稿保留 { $kept }%：{ $name }

## The web console

web-ask = 提问
web-overview = 概览
web-handbook = 使用手册
web-places = 主菜单
web-skip = 跳到正文
web-threads = 对话
web-no-threads = 你的对话会显示在这里。
web-new = 新问题
web-follow-up = 继续追问……
web-question = 想了解什么？
web-no-question = 请用文字写下你的问题。
web-depth = 深度
web-send = 提问
upload-files = 文件
upload-attach = 添加文件
upload-drop = 放下文件即可就其提问
upload-remove = 移除 { $name }
upload-empty = 文件 { $name } 是空的，请选择其他文件。
upload-too-large = 文件 { $name } 超过 { $limit } 兆字节，请选择较小的文件，或粘贴其中重要的部分。
upload-all-too-large = 一次发送超过了 { $limit } 兆字节，请减少文件或发送较小的文件。
upload-too-many = 一次最多可发送 { $limit } 个文件，其余的请之后再发送。
upload-unreadable = 无法读取文件 { $name }。可以读取没有密码的文本、Markdown、网页、PDF、Word、PowerPoint、Excel、OpenDocument、EPUB 和 CSV 文件，以及 PNG、JPEG、WebP 和 GIF 图片。
upload-gone = 该文件已不存在，请重新添加。
upload-without = 尚未发送。再次发送即可不带此文件提问。
web-enter = 按 Enter 发送
web-graph = 各个子问题及其先后关系
web-state-waiting = 等待中
web-state-running = 进行中
web-state-done = 已完成
web-state-failed = 失败
web-ready = 回答已经写好。
web-indexing = 正在为文档建立索引：共 { $total } 个文件，已有 { $done } 个可以搜索。
web-lost = 连接已断开，正在重试……
web-unsent = 没有发送成功，请再试一次。
web-resending = 你的问题还没有发出，正在重试……
web-how = 这个回答是怎么得来的？
web-source = 来源 { $number }
web-quotes = { $count } 处引文
web-quote = 引文 { $number }
web-in-the-page = 在页面中查看
web-sources-count = 来源（{ $count }）
web-closest = 你的文档中最接近的段落
web-closest-why = 以下是原文摘录，不是回答：没有语言模型读过它们。
web-closest-has = 包含：{ $words }
web-closest-has-none = 不包含问题中的词
web-closest-open = 在原文中打开此处
web-closest-lacking = 所有段落都不包含：{ $words }
web-searched = 搜索的词：{ $words }
web-copy-code = 复制代码
web-footnote-before = 上一个脚注
web-footnote-after = 下一个脚注
web-source-close = 关闭来源
web-run-said = 模型的回复
web-read-at = 读取于
web-copy = 复制为 Markdown
web-copied = 已复制。
web-copy-this = 复制
web-more = 关于这个问题的更多操作
web-edit = 修改问题
web-edit-send = 保存
web-cancel = 取消
web-regenerate = 重新生成
web-delete = 删除问题和回答
web-delete-sure = 要删除吗？删除后无法恢复。
web-newest = 最新
web-not-answered = 这个问题没能得到回答。
web-show-all = 显示全部
web-show-less = 收起
web-failed = 出了点问题
web-not-found = 此页面不存在
web-not-found-why = 地址可能有误，或内容已被删除。
web-back = 回到首页
web-failed-why = 控制台在这里做不到。请返回，使用页面上的按钮和链接。
web-broke = 这是 { -brand } 自身的故障，不是你的操作造成的，已记入日志。可以再试一次；如果仍然不行，请把编号 { $reference } 告诉管理员。
web-form-unreadable = 表单没有完整送达。请返回，重新提交。
web-too-large = 内容太大，无法发送：超过 { $most }。
web-send-as = 类型不对。请以 { $kind } 发送。
web-not-json = 这不是有效的 JSON。
web-depth-unknown = 没有这种深度。请从菜单中选择。
web-starting = { -brand } 正在启动或停止。请稍后再试。
web-files-again = 请重新选择文件
web-for-operators = 只有 { -brand } 的运维人员可以查看这个页面。
web-handbook-gone = 手册里没有这一页。
web-too-many-streams = 同时打开的页面太多了。请关闭一些。
refused-tries = 错误的尝试太多了。请等一分钟再试。
refused-requests = 一分钟内的请求太多了。请稍等再试。
refused-token = 令牌不对。正确的令牌在 FOOTNOTE_CONSOLE_TOKEN 中。
refused-sign-in = 请先登录。程序请以“Authorization: Bearer”发送令牌。
refused-unknown = { -brand } 暂时无法确认你是谁。请稍后再试。
refused-several = 请求头 { $header } 没有指明唯一的一个人。
refused-by-proxy = 你还没有登录。请通过负责登录的代理打开控制台。
refused-host = 控制台没有 { $host } 这个名字。运维人员可以把大家访问它的地址设为 FOOTNOTE_PUBLIC_URL。
refused-path = 这不是控制台的路径。
refused-cookie = 浏览器把同一个 Cookie 发送了两次。请刷新页面。
refused-site = 这个请求来自另一个网站。请直接打开控制台。
refused-elsewhere = 这个控制台只能在运行它的机器上使用，地址是 http://127.0.0.1。
refused-open-proxy = 在代理后面，控制台需要设置 FOOTNOTE_CONSOLE_TOKEN。
web-sign-in = 登录
web-sign-in-why = 控制台只需输入一次令牌，请向管理员索取。
web-sign-out = 退出登录
web-sign-out-here-why = 对话会保留；此浏览器下次需要重新输入令牌。
web-sign-out-here = 退出此浏览器
web-sign-out-all-why = 如果令牌可能已泄露，还应更换令牌。
web-sign-out-all = 在所有浏览器中退出
web-token = 令牌
web-token-wrong = 令牌不对，请检查。
sso-failed = 你尚未登录
sso-again = 重试
sso-signed-out = 你已退出登录
sso-leaving = 你已退出 Footnote。接下来登录服务也会让你退出。
sso-leave = 继续
sso-signed-in-as = 你以 { $name } 的身份登录。对话会保留。
sso-sign-out-all-why = 这会结束你在所有浏览器中的会话。
sso-away = 目前无法连接登录服务，请稍后重试。
sso-denied = 登录服务未允许你登录：{ $reason }
sso-stale = 此次登录耗时过长，或是在另一个浏览器中开始的。请重试。
sso-not-allowed = 你的帐号不能使用此控制台，请向管理员申请权限。
sso-nameless = 登录服务在声明“{ $claim }”中没有提供可用的内容，而这里靠它识别用户。请联系管理员更正。
sso-refused = 登录服务的回应不可信。管理员可在日志中找到原因。
web-thread-gone = 这个对话已经不在了。
web-too-many-questions = 一分钟内的问题太多了，请稍等再问。
web-was-stop = 这里没有可以停止的内容。要停止正在写的回答，请按它下面的“停止”。
web-not-here = 这个问题是在聊天中提出的，只能在那里继续。
web-not-yours = 只有提问的人才能修改这个问题。

## The console: asking

web-plan-nodes = 研究已完成 { $done }/{ $total } 部分
web-plan-parts = 已完成 { $done }/{ $total } 部分
web-plan-searched =
    { $count ->
        [0] 尚无搜索结果
       *[other] 搜索了 { $count } 次
    }
web-plan-read =
    { $count ->
        [0] 尚未阅读页面
       *[other] 阅读了 { $count } 个页面
    }
web-plan-unread = { $count } 个无法读取
web-plan-nothing-yet = 尚未找到内容。
web-plan-done = 研究用时 { NUMBER($seconds, maximumFractionDigits: 1) } 秒
web-plan = 研究计划
web-plan-node = 正在查找：{ $title }
web-plan-part = 正在处理：{ $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } 秒

### What a question searches

web-sources-asked = 搜索 { $asked }/{ $all } 个来源
web-sources-which = 此问题搜索哪些来源
web-sources-one = 搜索范围：
web-sources-nothing = 这里没有你可以搜索的来源。
web-sources-none = 请至少选择一个要搜索的来源。
web-source-other-documents = 其他文档
web-source-web = 网络
web-source-count = { $count } 个文档
prompt-wiki-building = 埃菲尔铁塔是谁设计的？有多高？
prompt-wiki-nature = 天空为什么是蓝色的？
prompt-wiki-history = 印刷机是什么时候、由谁发明的？

### Preferences and keys

web-prefs = 偏好设置
web-prefs-keep = 保存
web-theme = 外观
web-theme-system = 跟随系统
web-theme-light = 浅色
web-theme-dark = 深色
web-language = 语言
web-language-browser = 跟随浏览器
web-language-partly = { $name }（部分）
web-zone = 时区
web-zone-browser = 跟随浏览器
web-zone-why = 所有页面上的日期和时间都按此时区显示。
web-speak = 语音提问
web-speak-failed = 无法使用麦克风。
web-keys = 快捷键
web-key-send = 发送问题
web-key-line = 换行
web-key-box = 跳到提问框
web-key-mark = 在脚注及其他内容之间移动
web-key-close = 关闭引文、菜单或此列表
web-key-keys = 显示此列表

## 解释回答的页面

web-you = 你
web-run-asked = { $name } 提问 · { $place }
web-run-conversation = 查看对话
web-run-understood = 理解为：
web-run-sections = 本页内容
web-run-working = 正在处理这个问题，页面会随之更新。
web-run-pruned = 这次研究的步骤已不再保留，只剩下回答所记住的内容。
web-run-state-accepted = 等待中
web-run-state-running = 进行中
web-run-state-answered = 已回答
web-run-state-partial = 部分回答
web-run-state-not-found = 未找到
web-run-state-failed = 失败
web-run-state-stopped = 已停止
web-run-state-removed = 已删除
web-run-step-waiting = 等待中
web-run-step-running = 进行中
web-run-step-done = 完成
web-run-step-failed = 失败
web-run-took = 从提问到回答
web-run-worked = 工作用时
web-run-depth = 深度
web-run-depth-auto = 自动
web-run-depth-quick = 快速
web-run-depth-standard = 标准
web-run-depth-deep = 深入
web-run-depth-exhaustive = 穷尽
web-run-reasoner = 回答方式
web-run-searches = 搜索
web-run-pages-read = 已读网页
web-run-calls = 模型调用
web-run-tokens-in = 输入词元
web-run-tokens-cached = 缓存词元
web-run-tokens-out = 输出词元
web-run-cost = 费用
web-run-attempts = 尝试次数
web-run-feedback = 反馈
web-run-answer = 逐句看回答
web-run-answer-hint = 每句话旁边是支持它的原文。点击编号可打开当时读到的页面。
web-run-more-quotes = 这些网页的另外 { $count } 段原文
web-run-disagrees = 但网页 [{ $number }] 说
web-run-not-verbatim = 与保存的网页不一致
web-run-page-gone = 保存的网页已不在
web-run-checks = 检查结果
web-run-check-quotes = { $all } 段引文中有 { $good } 段与保存的网页逐字一致。
web-run-check-cited = { $all } 个句子、标题和说明中有 { $cited } 个带脚注。
web-run-check-no-doubt = 没有发现来源中不存在的数字、日期或名称。
web-run-check-verifying = 小模型正在对照引文核对各句。
web-run-check-verified = { $all } 个带脚注的句子中，小模型认为有 { $good } 个得到引文支持。
web-run-check-not-verified = 小模型没有核对这些句子：{ $problem }
web-run-verdicts = 小模型对各句的判断
web-run-verdicts-hint = 它看到的是每个带脚注的句子及其所引的原文。
web-run-verdict-supported = 得到支持。
web-run-verdict-partly = 部分得到支持。
web-run-verdict-not-supported = 未得到支持。
web-run-verdict-contradicted = 与引文相反。
web-run-verdict-words = 引文中没有：“{ $words }”。
web-run-verdict-marked = 已在回答中标出。
web-run-verdict-left-out = 已删去。
web-run-verdict-restated = 回答现在写作：
web-run-check-missing = 未找到：{ $what }
web-run-graph = 子问题
web-run-steps = 时间线
web-run-step = 步骤
web-run-seconds = 用时
web-run-tokens = 词元与费用
web-run-paused = 中间有 { $seconds } 没有进行任何工作，图中已缩短。
web-run-waited = 等待 { $seconds }：{ $lines }
web-run-attempt = 第 { $number } 次尝试
web-run-thinking = 它的思考
web-run-search-summary = { $hits } 条结果，已读 { $read } 条 · { NUMBER($seconds, maximumFractionDigits: 2) } 秒
web-run-for = 用于：{ $line }
web-run-hit-read = 已读
web-run-hit-failed = 无法读取
web-run-hit-left = 未读
web-run-hits-left = { $count } 条未读的结果
web-run-pages = 网页
web-run-read-at = 读于
web-run-whole-page = 全文，{ $count } 个字符
web-run-not-quoted = 没有引用其中的内容。
web-run-gap = 略去 { $count } 个字符
web-run-revisions = 从草稿到修订
web-run-revisions-hint = 每一部分先凭记忆起草，再根据读到的内容修改。红色为删去，绿色为新增。
web-run-fate-revised = 已修订
web-run-fate-unsourced = 已略去
web-run-fate-deleted = 已略去
web-run-queries = 为此搜索：
web-run-draft = 草稿
web-run-revision = 修订
web-run-back = 这个回答是怎么来的
web-original = 打开原文件
web-original-gone = 文件已不在原处。
web-run-page-hint =
    { $count ->
        [0] 这是当时读到的网页，没有引用其中的内容。
       *[other] 这是当时读到的网页，其中引用的 { $count } 处已标出。
    }
web-history-today = 今天
web-history-yesterday = 昨天
web-history-pinned = 已置顶
web-history-older = 更早的对话
web-history-all = 所有对话
web-history-find = 查找对话
web-history-search = 搜索
web-history-questions = { $count } 个问题
web-history-found = 有 { $count } 个对话包含“{ $words }”。
web-history-manage = 管理“{ $name }”
web-history-select = 选择 { $name }
web-history-select-all = 全选本页
web-history-delete-chosen = 删除所选
web-history-delete-several =
    { $count ->
       *[other] 删除 { $count } 个对话？
    }
web-history-delete-several-why = 其中的所有问题、回答和文件都会被永久删除，链接也会失效。
web-history-name = 对话名称
web-history-rename = 重命名
web-history-pin = 置顶
web-history-unpin = 取消置顶
web-history-delete = 删除整个对话
web-history-delete-sure = 永久删除
web-history-more = 这个对话的更多操作
web-did-rename = 已重命名。
web-did-pin = 已置顶。
web-did-unpin = 已取消置顶。
web-did-share = 链接已创建，可以复制。
web-did-unshare = 链接已失效。
web-share = 分享
web-share-why = 凡可使用此控制台并有权阅读此对话所有来源的人，都可打开此链接。
web-share-begin = 创建链接
web-share-end = 撤销链接
web-share-copy = 复制链接
web-share-copied = 链接已复制。
web-share-is = 已分享
web-share-read-only = 这是他人分享的对话，可以阅读，但不能更改。
web-share-out-of-reach = 无法显示此对话：其中使用了你无权阅读的文档。
web-export = 导出
web-export-pdf = 打印或 PDF
web-export-html = HTML 文件
web-export-md = Markdown
web-export-bib = 来源（BibTeX）
web-export-csl = 来源（CSL-JSON）
web-export-made = 导出于
feedback-why = 有什么问题？
feedback-wrong = 错误
feedback-incomplete = 不完整
feedback-bad-source = 来源不佳
feedback-outdated = 已过时
feedback-words = 补充说明（可选）
feedback-send = 发送
web-overview-sum =
    { $days ->
        [1] 今天
       *[other] 最近 { $days } 天
    }：{ $people } 人提了 { $questions } 个问题，{ $unanswered ->
        [0] 没有未获回答的
       *[other] { $unanswered } 个未获回答
    }{ $cost ->
        [0] { "" }
       *[other] ，花费 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 美元
    }。
web-overview-pace =
    一半的回答用时不超过 { $median }{ $cost ->
        [0] { "" }
       *[other] ；每个回答平均花费 { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } 美元
    }。
web-overview-judged = 读者评价：{ $good } 个有帮助，{ $bad } 个没帮助。
web-overview-now = 现在：{ $running } 个进行中，{ $waiting } 个等待中。
web-overview-answered = 已回答
web-overview-unanswered = 未获回答
web-overview-times = 问过 { $count } 次
web-overview-unanswered-why = 来源没有说明，或只说明了一部分。
web-overview-add-search = 如何接入来源
web-overview-more-unanswered = 所有未获回答的问题
web-overview-complaints = 读者指出的问题
web-overview-no-complaints = 没有读者认为回答没帮助。
web-overview-more-feedback = 所有反馈
web-overview-by-channel = 提问的地方
web-overview-by-collection = 回答引用的文档
web-overview-collection = 文档集合
web-overview-answers-quote = 回答
web-overview-documents-quoted = 文档
web-overview-no-collection = 不属于任何集合
web-unanswered = 未获回答的问题
web-unanswered-why = 人们问到、但来源没有说明或只说明了一部分的问题。请添加或接入含有这些内容的文档或来源。用词相同的问题合并计数。
web-unanswered-csv = 下载 CSV
web-unanswered-times = 提问次数
web-unanswered-none = 此时段和范围内的问题都已获得回答。
web-feedback = 反馈
web-feedback-why = 读者对回答的看法。点击问题可查看回答是如何得出的。
web-feedback-verdict = 评价
web-feedback-words = 读者的话
web-feedback-at = 提交时间
web-feedback-none = 此时段和范围内还没有反馈。读者可用回答下方的按钮评价。
web-overview-filter = 显示范围
web-overview-period = 时间
web-overview-days =
    { $count ->
        [1] 今天
       *[other] { $count } 天
    }
web-overview-platform = 平台
web-overview-workspace = 工作区
web-overview-channel = 频道
web-overview-all = 全部
web-overview-show = 显示
web-overview-questions = 问题
web-overview-cost = 费用
web-overview-per-day = 每日问题数
web-overview-cost-per-day = 每日费用
web-overview-as-table = 以表格显示
web-overview-day = 日期
web-overview-providers = 搜索服务
web-overview-providers-hint = 依据最近 { $count } 次搜索。
web-overview-provider = 服务
web-overview-found = 有结果的搜索
web-overview-failed = 失败的搜索
web-overview-last-failure = 最近一次失败
web-overview-latest = 最近的问题
web-overview-question = 问题
web-overview-state = 结果
web-overview-asked = 提问时间
web-overview-nothing = 这段时间、这个范围内没有提问。
web-overview-everything = 显示所有范围最近 90 天的内容
web-overview-new = 还没有人提问。有人在已接入的聊天或这个控制台里提问后，这里会显示问了什么、哪些未能回答、花费多少。
web-overview-ask = 提出第一个问题
web-overview-csv = 下载每日数据（CSV）
web-overview-json = 全部数字导出 JSON

### The documents that are searched, for operators

sources = 资料
sources-none = 还没有文档。可以上传文件或添加文件夹，也可以在设置中指定文件夹。
sources-unindexed = 还没有索引任何文档：请先运行 `footnote index FOLDER`。
sources-path-gone = 没有文件或文件夹 { $path }：请更正 --docs 或 FOOTNOTE_DOCS。
sources-sum =
    { $found ->
        [0] 没有找到文件。
       *[other] 共 { $found } 个文件，可搜索 { $documents } 个。
    }
sources-starts = { -brand } 正在以新的文档启动，需要几秒钟。
sources-folders = 文件夹
sources-index = 立即重新索引
sources-index-one = 重新索引此文件夹
sources-index-why = 只读取新增、改动过或先前读不了的文件。
sources-indexing = 正在索引……
sources-looked = 上次检查：
sources-next = 下次检查：
sources-changed = 最近读取：
sources-number = { $count }
sources-document = 可搜索
sources-stale = 以旧版本搜索
sources-copy = 与其他文件文本相同
sources-empty = 空文件
sources-large = 过大
sources-unreadable = 无法读取
sources-kind = 不支持的类型
sources-hidden = 隐藏文件
sources-other = 链接和没有权限的文件
sources-folder = 未查看的文件夹
sources-readers = 谁可以阅读
sources-documents = 文档
sources-everybody = 所有可以提问的人
sources-channels = 频道 { $ids }
sources-people = 人员 { $ids }
sources-slack-groups = 用户组 { $ids }
sources-discord-roles = Discord 身份组 { $ids }
sources-console-users = 控制台用户 { $ids }
sources-console-groups = 控制台用户组 { $ids }
sources-others = 同时搜索
sources-server = { $name }（模型上下文协议服务器）：{ $readers }
sources-chat = { $name }：在那里提问时搜索其中的对话
sources-find = 搜索索引
sources-all = 索引在全部文档中找到的内容，最相关的在前。
sources-hidden-from = 索引找到的内容，最相关的在前；不含你无权阅读的文档：{ $names }。
sources-found =
    { $count ->
        [0] 什么也没有找到。
       *[other] { $count } 个段落。
    }
sources-open = 在此处打开
sources-read = 读取于
sources-same = 与 { $path } 文本相同
sources-no-ending = 没有扩展名
sources-list-end = 这里没有更多文件。
sources-back = 上一页
sources-more = 下一页
sources-gone = 此文件或文件夹已不在文档之中。
sources-is-set = 在控制台之外设置，即 { $name }。
sources-is-added = 在此处添加。
sources-uploads = 上传的文件
sources-manage = 查看或移除
sources-add = 添加文档
sources-add-why = 在此处添加的内容，所有可以提问的人都能读到，除非有文档集限制读者。
sources-shut = 要允许运维人员在此添加或移除文档，请设置 { $name }。
sources-upload = 上传文件
sources-upload-why = 文本、Markdown、HTML、PDF、Word、PowerPoint、Excel 等，每个最大 { $limit } 兆字节，一次最多十个。
sources-upload-now = 上传
sources-replace = 替换同名文件
sources-no-file = 请至少选择一个文件。
sources-not-read = 不支持文件 { $name } 的类型。支持文本、Markdown、HTML、PDF、Word、PowerPoint、Excel、OpenDocument、EPUB 和 CSV。
sources-exists = 已有文件 { $name }。勾选“替换同名文件”即可替换。
sources-not-stored = 无法保存文件 { $name }：{ $why }。
sources-add-folder = 添加此服务器上的文件夹
sources-add-look = 查看其内容
sources-add-found = { $path } 有 { $found } 个文件，其中 { $documents } 个可以读取。所有可以提问的人都将能读到它们。
sources-add-sure = 添加文件夹
sources-add-not = 取消
sources-no-folder = “{ $path }”不是 { -brand } 可以读取的文件夹。请填写它在此服务器上的完整路径。
sources-own-folder = “{ $path }”包含 { -brand } 自己的数据文件夹，或位于其中。请指定其他文件夹。
sources-followed = “{ $path }”已在搜索之列。
sources-drop = 移除文件夹
sources-drop-why = 文件仍留在原处，只是不再搜索。
sources-drop-sure = 移除

# 在控制台中连接聊天平台和模型，以及状态页面。
connect = 连接 { $name }
connect-slack-app = 创建应用。链接已带上全部设置：选择您的工作区，然后依次点击“Next”和“Create”。
connect-slack-open = 在 Slack 创建应用
connect-slack-bot = 选择“Install App”，把应用安装到您的工作区，然后复制“Bot User OAuth Token”。
connect-slack-bot-field = Bot User OAuth Token（xoxb-…）
connect-slack-socket = 在“Basic Information”的“App-Level Tokens”下选择“Generate Token and Scopes”，添加 connections:write，生成令牌并复制。
connect-slack-socket-field = 应用级令牌（xapp-…）
connect-slack-connected = 用 /invite { $name } 邀请它加入频道，然后提及它。
connect-discord-app = 选择“New Application”。在“Bot”下选择“Reset Token”，并复制令牌。
connect-discord-open = 打开您在 Discord 的应用
connect-discord-intent = 在同一页面打开“Message Content Intent”。
connect-discord-enter = 填写令牌。
connect-discord-field = 机器人令牌
connect-discord-connected = 用上面的链接把它添加到您的服务器，然后用 /ask 提问，或者提及它。
connect-claude-key = 在 Anthropic 创建 API 密钥并复制。
connect-claude-open = 打开您的密钥页面
connect-claude-enter = 填写密钥。
connect-claude-field = API 密钥（sk-ant-…）
connect-claude-connected = 现在由 Claude 搜索、阅读并撰写回答。
connect-copy = 或者复制应用的设置（manifest）
connect-entered = 已填写。留空即沿用。
connect-missing = 请填写此项。
connect-test = 测试并连接
connect-lines = 只显示 .env 的内容
connect-lines-shown = 测试通过。请把这几行写入 { -brand } 运行处的 .env，然后重新启动。它们只显示一次，不会保存。
connect-starting = { -brand } 正在以新设置启动……
connect-connecting = 正在连接 { $name }……
connect-checking = 正在检查……
connect-given = { $name } 是在控制台之外设置的（{ $names }）：请在那里修改。
connect-off = 此处不能填写，因为其他人可能访问这个控制台。请在 { -brand } 运行处设置 { $names }，或者用 FOOTNOTE_CONSOLE_SETUP=on 允许填写。
connect-kept-why = 您填写的内容会加密保存在 { -brand } 运行的地方。
connect-drop = 断开连接
connect-drop-why = { -brand } 不再使用 { $name }，并删除在此处填写的内容。
status = 状态
status-again = 重新检查
status-checked = 检查时间
status-connected = 已连接
status-works = 正常
status-problem = 有问题
status-note = 提示
status-off = 未设置
status-checking = 检查中

## Why a file is not read; the kinds of files

unread-folder = 无法打开文件夹（{ $why }）。
unread-shut = 无法打开（{ $why }）。
unread-cannot = 无法读取（{ $why }）。
unread-not-regular = 这不是普通文件。
unread-exchanged = 读取文件夹时，该文件被换成了链接。
unread-link-nowhere = 链接没有指向任何文件。
unread-link-out = 链接指向索引文件夹之外。
unread-no-text = 其中没有文本。
unread-too-large = 大小为 { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB，{ $kind }的上限是 { NUMBER($most, maximumFractionDigits: 6) } MB：请拆分成较小的文件。
unread-too-large-pictures = 大小为 { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB，{ $kind }的上限是 { NUMBER($most, maximumFractionDigits: 6) } MB：请拆分成较小的文件，或缩小其中的图片后再保存。
unread-slow = 读取超过 { $seconds } 秒：请拆分，或转换为文本。
unread-memory = 读取所需的内存超过 { $most }：请拆分成较小的文件。
unread-broke = 读取程序在处理该文件时崩溃：请重新保存，或转换为文本。
unread-kept = 在能够读取之前，保留其 { $date }的文本。
unread-empty = { $name } 是空的，没有可读的内容。
unread-kind = { -brand } 无法读取 { $name }（{ $what }）；请另存为 PDF、.docx、HTML 或文本，或粘贴其文本。
unread-image = { -brand } 无法读取 { $name }（{ $what }）；请另存为 PNG、JPEG、WebP 或 GIF，并随问题一起发送。
unread-old = { $name } 是旧格式（{ $what }）；请打开并另存为 { -brand } 可读取的 { $ending }。
unread-locked = { $name } 设有密码；请保存一份没有密码的副本，或粘贴其文本。
unread-beginning = { $name } 已损坏：其开头不符合 { $kind } 文件的格式；请提供另一份副本。
unread-man = { $name } 的扩展名是手册页的，内容却不是；如要作为文本读取，请将扩展名改为 .txt。
unread-broken = { $name } 已损坏（{ $what }）；请打开并重新保存，或提供另一份副本。
unread-entities = { $name } 声明了自己的实体，任何办公软件都不会这样写；请打开并重新保存，或粘贴其文本。
unread-unpacked = { $name } 解压后超过 { -brand } 可读取的大小（共 { NUMBER($size, maximumFractionDigits: 0) } MB）；请拆分成较小的文档，或粘贴需要的部分。
unread-part = { $name } 解压后超过 { -brand } 可读取的大小（单个部分 { NUMBER($size, maximumFractionDigits: 0) } MB）；请拆分成较小的文档，或粘贴需要的部分。
unread-paragraph = { $name } 含有超过 { $most } MB 的段落或行，正常的文档不会如此；请粘贴需要的文本。
unread-entries = { $name } 含有超过 { $most } 个文件，正常的文档不会如此；请提供文档本身。
unread-gzip-large = { $name } 解压后超过 { $most }；请拆分成较小的文件。
unread-gzip-broken = { $name } 是已损坏的 gzip 文件；请重新压缩，或提供其中的文件。
unread-pdf-pictures = { $name } 是只有图片、没有文本的 PDF 文档；请提供经过文字识别（OCR）的版本，或粘贴其文本。
unread-pdf-broken = { $name } 是已损坏的 PDF 文档；请提供另一份副本，或粘贴其文本。
unread-pdf-locked = { $name } 是设有密码的 PDF 文档；请提供没有密码的版本，或粘贴其文本。
unread-epub = { $name } 是有复制保护的 EPUB 图书；请提供没有保护的版本，或粘贴需要的文本。
unread-notebook = { $name } 是已损坏的 Jupyter 笔记本；请打开并重新保存，或导出为 HTML。
unread-outlook = { $name } 是已损坏的 Outlook 邮件；请重新保存，或另存为 .eml。
unread-code = { $name } 是压缩过的代码；请提供生成它的源代码。
unread-pandoc = pandoc 无法读取 { $name }；请另存为 PDF、.docx、HTML 或文本。
unread-no-pandoc = 读取 { $name } 需要 pandoc：请安装它，或运行 pip install 'footnote-bot[pandoc]'。
unread-crashed = 无法读取 { $name }：读取程序崩溃了，或需要超过 { $most } 的内存；请粘贴其中的文字。
unread-hungry = 读取 { $name } 需要超过 { $most } 的内存；请拆分它，或粘贴需要的部分。
unread-made-slow = { $name } 的结构使读取时间过长；请粘贴其中的文字。
unread-scripted = { $name } 中没有不用浏览器就能读取的文字；请粘贴文字。
unread-unsearchable = { $name } 太长，或其结构使查找段落的时间过长；请粘贴需要的部分。
gate-login = { $name } 只显示登录表单；请粘贴文字，或给出公开的页面。
gate-check = { $name } 只允许浏览器访问，显示的是验证页面；请粘贴文字。
gate-script = { $name } 用 JavaScript 显示文字，只有浏览器能读取；请粘贴文字。
gate-missing = { $name } 不存在：网站在该处显示错误页面；请检查地址。
gate-sale = { $name } 已不存在：其地址正在出售；请另找一个。
gate-preview = { $name } 对未付费者只显示预览；请粘贴文字，或给出免费的页面。
gate-cookies = { $name } 只显示关于 Cookie 的询问；请粘贴文字。
file-lost = 文件 { $name } 已不在了：请重新附上。
disk-unmounted = { $path } 所在的磁盘没有挂载；已编入索引的内容会保留。
what-image = 图片
what-media = 图片、音频或视频
what-sound-video = 音频或视频
what-audio = 音频文件
what-video = 视频
what-font = 字体
what-archive = 压缩包
what-program = 程序
what-database = 数据库
what-binary = 二进制文件
what-xml = XML 文档
what-type = 类型 { $type }
what-gzip = 用 gzip 多次压缩
what-xlsb = Excel 二进制工作簿（.xlsb）
what-iwork = 苹果 Pages、Numbers 或 Keynote 的文档
what-doc = 旧版 Word 文档（.doc）
what-xls = 旧版 Excel 工作簿（.xls）
what-ppt = 旧版 PowerPoint 演示文稿（.ppt）
what-office = 旧版 Office 文档
what-zip = 与 Office 文档相同的 ZIP 文件
what-document = 文档
what-word = Word 文档
what-sheets = Excel 工作簿
what-slides = PowerPoint 演示文稿
what-opendocument = OpenDocument 文件
what-epub = EPUB 图书
format-text = 纯文本
format-man = 手册页
format-notebook = Jupyter 笔记本
format-mail = 邮件
format-outlook = Outlook 邮件
format-subtitles = 会议记录
format-settings = 配置文件
format-log = 日志
format-code = 源代码
format-gzipped = 用 gzip 压缩的{ $kind }

## Said in several places

sentences = { $first }{ $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] 字节
    [1] kB
    [2] MB
   *[3] GB
}
listed = { $first }、{ $next }
storage-sqlite = SQLite（{ $path }）
storage-postgres = PostgreSQL（{ $host }，数据库 { $name }）

# The names of the parts that are checked
part-kept = 在控制台中设置
part-storage = 存储
part-uploads = 上传的文件
part-documents = 文档
part-changes = 变更检查
part-extras = 附加组件
part-rights = 权限
part-network = 网络
part-meaning = 按语义搜索
part-search =
    搜索（{ $name ->
        [local] 文档
       *[other] { $name }
    }）
part-reader = 阅读服务
part-browser = 浏览器
part-model = 模型
part-budget = 预算
part-console = 控制台

# What the checks find
check-slow = { $seconds } 秒内没有响应。请检查网络，然后重试。
check-broke = 意外失败（{ $error }）。详情见日志。
check-storage = { $place }工作正常。
check-storage-open = 这台机器上的其他用户可以读取 { $folder } 中的 { $names }。`chmod -R go= { $folder }` 可以阻止他们。
check-storage-full = 磁盘空间只剩 { $free }:请清理出一些空间。
check-uploads =
    { $count ->
        [0] 没有保存上传的文件。
       *[other] 保存了 { $count } 个上传的文件，共 { $size }。
    }
check-uploads-today = 今天上传了 { $sent }，单人最多 { $most }。
check-uploads-limit = 每人每天可以上传 { $limit }。
check-budget =
    { $usd ->
        [0] 今天没有花费。
       *[other] 今天花费了 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元。
    }
check-budget-limits = 上限：{ $limits }。
check-budget-question = 每个问题 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-budget-person = 每人每天 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-budget-channel = 每个频道每天 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-budget-workspace = 每个工作区每天 { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } 美元
check-documents-missing = { $paths } 处什么也没有。请更正 FOOTNOTE_DOCS，或者创建它。
check-documents-none = 还没有索引任何内容。请在“资料”页面添加文档，或运行 `footnote index FOLDER`。
check-documents =
    { $path } 中{ $count ->
        [0] 没有已索引的文档。
       *[other] 索引了 { $count } 个文档。
    }
check-documents-unread = { $files } 个文件中有 { $count } 个属于不读取的类型（{ $kinds }）。
check-documents-lost = 以下 { $count } 个文件只读出了不到 90% 的词：{ $names }。
check-documents-stale = 以下 { $count } 个文件现在无法读取，仍搜索其先前的文本：{ $names }。
check-changes-none = 没有跟踪任何文件夹。用 FOOTNOTE_DOCS 指定要跟踪的文件夹。
check-changes-start = 因为 FOOTNOTE_DOCS_POLL 是 0，`footnote serve` 只在启动时检查变更。
check-changes = `footnote serve` 每 { $seconds } 秒检查一次变更，大文件夹的间隔更长。
check-changes-never = 目前还没有检查过。
check-changes-last = 上次检查在 { $at } UTC。
extra-needed = { $use } 需要附加组件“{ $extra }”：{ $install }
extra-browser = 由脚本生成的网页
extra-discord = Discord
extra-mcp = Model Context Protocol
extra-office = Excel 工作簿、Outlook 邮件
extra-openai = 通过 OpenAI 接口使用的模型
extra-otel = OpenTelemetry 链路追踪
extra-pandoc = RTF、LaTeX、DocBook、MediaWiki、Textile
extra-postgres = PostgreSQL 及其队列
extra-slack = Slack
extra-sso = 控制台的单点登录
extra-vectors = 按语义搜索文档
check-extras-all = 已全部安装。
check-extras-one = { $extra }（{ $use }）
check-extras = 未安装：{ $extras }。用 `{ $install }` 安装，只写需要的即可。
check-rights-none = 所有可以提问的人都能搜索全部文档。要加以限制，请在 footnote.toml 中声明 [[collections]]。
check-rights = “{ $name }”（{ $count }）：{ $who }。
check-rights-others = 其他所有文档（{ $count }）：所有可以提问的人。
check-rights-unindexed = 尚未索引
check-rights-ever = 没有 FOOTNOTE_DOCS 时，会搜索曾经索引过的所有内容。
check-network = 代理 { $proxy } 有响应。
check-network-authorities = 也信任 { $path } 中的证书颁发机构。
check-network-none = 没有设置代理。
check-network-pages = 网页通过 { $proxy } 读取（{ $target }）。
check-network-names = 这台机器无法解析互联网上的名称。FOOTNOTE_FETCH_PROXY_TARGET=unresolved 可以把这件事交给代理。
check-network-direct = 读取网页不经过代理。
check-network-bypass = 不经过代理访问：{ $hosts }。
check-meaning-off = 文档只按词语搜索。要同时按语义搜索，请设置 FOOTNOTE_EMBEDDINGS_URL。
check-meaning = { $model } 有响应，向量有 { $count } 维。
check-meaning-vectors =
    { $count ->
        [0] 还没有索引任何内容。
       *[other] { $count } 个段落中有 { $having } 个已有向量。
    }
check-meaning-missing = `footnote index` 会生成缺少的向量。
check-search = 测试搜索成功。
check-search-price = 一次搜索的费用是 { NUMBER($usd, minimumFractionDigits: 2) } 美元，加上一次调用 { $model } 的词元费用。
check-search-quota = 本月的 { $most } 次请求还剩 { $left } 次。
check-search-unlimited = 该套餐没有每月上限。
check-search-rate = 该套餐允许更高的每秒请求数：设置 FOOTNOTE_BRAVE_RATE={ $rate } 即可用上。
check-search-credits = 还剩 { $left } 点额度。
check-search-used = { $most } 点额度已用 { $used } 点。
check-search-found =
    { $count ->
        [0] 测试搜索没有找到任何内容。
       *[other] 测试搜索找到了 { $count } 个网页。
    }
check-search-silent = 没有响应的搜索引擎：{ $names }。
check-mcp = 用 { $tools } 搜索。
check-mcp-read = 用 { $tool } 读取页面。
check-mcp-others = 其他 { $count } 个工具从不调用。
check-reader-off = 没有。要让服务读取需要浏览器的网页，请设置 FOOTNOTE_READER_URL。
check-reader = { $name } 有响应：读取了 { $url } （{ $count } 个字符）。
check-browser-off = 没有。要读取由脚本生成的网页，请设置 FOOTNOTE_BROWSER。
check-browser = Chromium { $version } 可以启动。
check-browser-open = 它在没有沙箱的情况下运行，恶意网页可能取得 { -brand } 的权限。
check-model = { $name } 有响应。
check-model-none = 没有：回答是最接近的段落。请在控制台连接 Claude，或设置 ANTHROPIC_API_KEY；要用 OpenAI 或自己的模型，请设置 FOOTNOTE_MODEL=openai:NAME。
check-platform-off = 未连接。请在控制台连接，或设置 { $names }。
check-discord =
    { $name } { $count ->
        [0] 还没有加入任何服务器。
       *[other] 已加入 { $count } 个服务器。
    }
check-discord-invite = 在 { $url } 可以把它添加到服务器。
check-discord-strangers = 任何人都可以为自己安装它，而 { $setting } 让他们能搜索文档。请在“Installation”下关闭“User Install”，或取消这项设置。
check-discord-endpoint = 应用把命令发送到“Interactions Endpoint URL”，所以 { -brand } 收不到。请在 https://discord.com/developers/applications 的“General Information”中清空这一栏。
check-discord-intent = Discord 不向 { -brand } 显示没有提及它的消息，所以追问也需要提及它。请在 https://discord.com/developers/applications 的“Bot”、“Privileged Gateway Intents”中打开“Message Content Intent”。
check-discord-token = Discord 不接受 DISCORD_TOKEN。请在 https://discord.com/developers/applications 的“Bot”、“Reset Token”中重新复制令牌。
check-discord-away = 无法连接 Discord。请检查网络和 https://discordstatus.com ，然后重试。
check-slack = @{ $bot } 在 { $team } 中。
check-slack-socket = 套接字模式工作正常。
check-slack-http = 发到 /slack/events 的事件会经过验证。
check-slack-unused = 设置了 SLACK_BOT_TOKEN 时，不会使用 SLACK_CLIENT_ID。
check-slack-searched =
    { $meaning ->
        [True] 按语义搜索消息
       *[other] 搜索消息
    }（{ $kinds }）。
slack-public-channel = 公共频道
slack-private-channel = 私有频道
slack-mpim = 群组消息
slack-im = 私信
check-slack-unsearched = 不搜索消息，因为应用缺少权限 { $scope }。
check-slack-unsearchable = 无法搜索消息（{ $detail }）。
check-slack-files = 也搜索文件。
check-slack-no-files = 不搜索文件，因为应用缺少权限 { $scope }。
check-slack-installed =
    { $count ->
        [0] 还没有工作区安装这个应用。
       *[other] 有 { $count } 个工作区安装了这个应用：{ $names }。
    }
check-slack-install = 在 { $url } 安装，之后 Slack 会返回 { $back } 。
check-slack-scopes =
    { $team ->
        [none] {""}
       *[other] 在 { $team } 中，
    }Slack 应用缺少 { $count } 项权限：{ $names }。请在 https://api.slack.com/apps 的“OAuth & Permissions”中补上（或把 adapters/slack/manifest.yaml 粘贴到“App Manifest”），然后重新安装应用。
check-slack-revoked = Slack 不再接受 { $team } 的令牌。请在 { $url } 重新安装应用。
check-slack-token = Slack 不接受 { $setting }（{ $code }）。请在 https://api.slack.com/apps 从应用的页面重新复制。
check-slack-secret = SLACK_SIGNING_SECRET 不是 32 位十六进制数字。请在 https://api.slack.com/apps 从应用的“Basic Information”复制签名密钥。
check-slack-kind = { $setting } 不以 { $beginning } 开头，是另一种令牌。请在 https://api.slack.com/apps 从应用的“{ $page }”复制正确的令牌。
check-slack-away = Slack 在 { $url } 没有响应。请检查网络或 FOOTNOTE_SLACK_API_URL。
check-slack-socket-scope = SLACK_APP_TOKEN 缺少 connections:write。请在 https://api.slack.com/apps 应用的“Basic Information”中创建带有它的新应用级令牌。
check-slack-socket-off = Slack 不打开套接字模式连接（{ $code }）。请在 https://api.slack.com/apps 为应用打开套接字模式。
check-console = `footnote serve` 在 { $place } 打开它。
check-console-shut = 但没有人可以在那里提问。
check-console-list = { $setting } 没有包括控制台：请把 { $id } 加入列表。
check-console-without = 不需要控制台时，请设置 FOOTNOTE_CONSOLE=off。
check-console-off = 已关闭。要在浏览器中提问，请取消 FOOTNOTE_CONSOLE。
check-console-closed = 未开放，因为其他人可能访问它。要开放，请设置 FOOTNOTE_CONSOLE_TOKEN 或 FOOTNOTE_OIDC_ISSUER。
check-sso = { $issuer } 负责登录，有 { $count } 个密钥。请在那里把 { $redirect } 登记为重定向地址。
check-sso-out = 请把 { $address } 登记为退出后的地址。
kept-folder-gone = 没有文件夹 { $path }。
kept-given = { $name } 已在控制台之外设置。请在那里修改。
kept-key-gone = 在控制台填写的密钥和令牌无法解密：{ $where } 缺失、无法读取，或是另一个密钥。请放回正确的密钥，或重新填写。
kept-key-none = 机密内容只以加密形式保存。请把 FOOTNOTE_ENCRYPTION_KEYS 设为 `footnote keys new` 输出的密钥，并与数据库分开保管。
kept-key-unreadable = 无法读取 { $path }（{ $why }）。
kept-key-other = { $path } 不是 { -brand } 写在那里的密钥。
kept-key-unwritten = 无法写入 { $path }（{ $why }）。

# What services answer
api-of = { $name } 的 API
wiki-at = { $host } 上的维基
embeddings-endpoint = 向量嵌入服务
claude-search = Claude 的网页搜索
search-late = { $seconds } 秒内没有响应：请稍后再试。
search-rate = { $title }暂时不再接受请求：请稍后再试。
search-down = { $title }繁忙或已停机（HTTP { $status }）：请稍后再试。
search-redirect = { $title }重定向到了别处，不会跟随：请检查 { $place }。
search-refused = { $title }不接受该请求（HTTP { $status }）。
search-access = { $title }拒绝访问：请在那里允许这台机器，或检查 { $place }。
search-key = { $title }不接受密钥：请更正 { $key }。
search-quota = { $title }的配额已用完：请提高套餐上限，或把它移出 FOOTNOTE_PROVIDERS。
search-garbled = { $title }返回的内容无法读取：请检查 { $place }。
search-slow = { $title }没有及时响应：请稍后再试。
search-away = 无法连接{ $title }：请检查网络和 { $place }。
service-other = { $host }有响应，但与{ $service }不同：请检查 { $url }。
service-slow = { $model } 超过 { $seconds } 秒才响应：请重试，或调大 FOOTNOTE_MODEL_TIMEOUT。
service-away = 无法连接{ $host }，或连接中断：请检查网络，然后重试。
service-garbled = { $host }返回的内容无法读取：请重试，或检查 { $url }。
service-unpaid = { $key } 的账户无法支付这次请求：{ $words }
service-key = { $host }不接受 { $key }：{ $words }。请更正密钥或其权限。
service-unknown = { $host }没有模型 { $model }：请把 { $setting } 设为可用的模型。
service-nothing = { $host }没有 { $protocol }：请更正 { $url }（{ $form ->
    [without] 不带 /v1
   *[with] 带 /v1
 }）。
service-busy = { $host }繁忙，尝试 { $count } 次后仍没有响应：请过一会儿再试。
service-trouble = { $host }自身有问题，尝试 { $count } 次后仍没有响应：请过一会儿再试。
service-refused = { $host }拒绝了对 { $model } 的请求：{ $words }
reading-service = 读取服务 { $name }
wiki-none = { $url } 处没有 MediaWiki API：请检查 { $place }。
wiki-login = { $title }登录后才能读取。
wiki-refused = { $title }不接受该请求。
wiki-no-such = { $title }中没有这个页面。
wiki-no-page = { $site } 中没有名为“{ $page }”的页面。
wiki-no-article = { $url } 不是 { $site } 的条目。
wiki-empty = { $site } 的页面“{ $page }”没有文字。
proxy-unconnected = 代理 { $proxy } 没有连接到 { $host }（{ $why }）：请检查它以及 HTTPS_PROXY、NO_PROXY 和 FOOTNOTE_CA_BUNDLE。
embeddings-quota = { $key } 中密钥的额度已用完：请提高额度。
embeddings-unknown = { $title }不认识该地址或模型 { $model }：请检查 { $place } 和 FOOTNOTE_EMBEDDINGS_MODEL。
brave-rate = Brave 在这一秒内不再接受请求：请稍后再试，或把 FOOTNOTE_BRAVE_RATE 设为套餐允许的值。
searxng-json = SearXNG 不以 JSON 返回结果：请在其 settings.yml 的 search.formats 中加入 json 并重启。
searxng-silent = SearXNG 什么也没找到，且这些引擎没有响应：{ $names }。请检查引擎的状态，或稍后再试。
service-toolless = { $model } 不能调用研究所需的工具：请把 FOOTNOTE_MODEL 设为能调用工具的模型。
mcp-tool = 它的工具 { $tool } 失败了：{ $words }
mcp-refused = 它拒绝了：{ $words }
mcp-odd = 它发送的结果不符合它声明的格式。
mcp-credentials = 它不接受我们的凭据（HTTP { $status }）：请更正 [[mcp]] 中的 headers 或 oauth。
mcp-broke = 与它的连接断开了：请稍后再试。
mcp-command = 无法启动命令 { $command }：请在 [[mcp]] 中更正。
mcp-away = 无法连接到它，或它不使用该协议。
mcp-no-search = 它没有用于搜索的工具：{ $names }。
mcp-name-one = 请在 [[mcp]] 的 `search` 中指定一个。
browser-none = { $place } 指定的 { $name } 不是本机上的程序：请安装 Chromium，或更正名称。
browser-sandbox = Chromium 在此无法带沙箱启动：请在允许用户命名空间的地方以非 root 用户运行 { -brand }；在没有其他内容的容器中，可以设置 { $setting }=off。
browser-dead = Chromium（{ $name }）无法启动：请手动试试，或更正 { $place }。
sso-issuer = FOOTNOTE_OIDC_ISSUER 是 { $given }，但提供方自称 { $its }：请改为后者。
sso-lacks = OpenID 提供方的发现文档中没有可用的 { $name }。
toml-invalid = { $path } 不是有效的 TOML：{ $why }。请在其中更正。
toml-unusable = { $path } 中的文档集或服务器无法使用。`footnote doctor` 会说明问题所在。
rights-gone = 含有文档集的 { $path } 不见了：请放回去。
rights-twice = 文档集 { $first } 和 { $second } 都有路径 { $path }：请只保留一处。
rights-nowhere = 文档集 { $name } 的路径 { $path } 处没有文件或文件夹：请更正。
rights-outside = 文档集 { $name } 的路径 { $path } 不在被搜索的文档（{ $docs }）之内：请更正，或加入 FOOTNOTE_DOCS。
