# Les textes de Footnote en français. Identifiants et variables comme dans en.ftl ; ce qui manque apparaît en anglais.

-brand = Footnote

## While it works

working = Recherche en cours…
queued =
    { $ahead ->
        [0] En file d’attente. Votre question est la prochaine.
        [one] En file d’attente. Une question passe avant la vôtre.
       *[other] En file d’attente. { $ahead } questions passent avant la vôtre.
    }
stopping = Arrêt en cours…
stopped = Arrêté.
nothing-running = Rien n’est en cours ici, il n’y a rien à arrêter.
stopping-count =
    { $count ->
        [one] Arrêt de la question en cours…
       *[other] Arrêt de { $count } questions…
    }
edited-question = La question a été modifiée. Nouvelle réponse en préparation…

## Steps of the plan

step-rewrite = Compréhension de la question
step-search = Recherche : { $title }
step-read = Lecture : { $title }
step-think = Réflexion
step-plan = Planification de la recherche
step-draft = Rédaction du brouillon
step-revise = Révision
step-write = Rédaction de la réponse
step-check = Vérification des notes
step-other = { $title }
step-searches =
    { $count ->
        [one] { $count } recherche
       *[other] { $count } recherches
    }
step-pages =
    { $count ->
        [one] { $count } page
       *[other] { $count } pages
    }
exhaustive-price =
    { $usd ->
        [-1] Jusqu’à { $searches } recherches et { $minutes } minutes, prix inconnu. Vous pouvez arrêter à tout moment et obtenir ce qui a été trouvé.
       *[other] Jusqu’à { $searches } recherches, { $minutes } minutes et environ { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD. Vous pouvez arrêter à tout moment et obtenir ce qui a été trouvé.
    }
exhaustive-round =
    { $facts ->
        [one] Après { $searches } recherches sur { $most } : { $facts } fait trouvé
       *[other] Après { $searches } recherches sur { $most } : { $facts } faits trouvés
    }
elapsed = { NUMBER($seconds, maximumFractionDigits: 0) } s écoulées
more-steps =
    { $count ->
        [one] et une autre étape
       *[other] et { $count } autres étapes
    }

## Under the answer

sources-heading = Sources
more-sources =
    { $count ->
        [one] et une autre source
       *[other] et { $count } autres sources
    }
preview-edited = La question a été modifiée depuis. Le lien mène à la nouvelle réponse.
preview-sources =
    { $count ->
        [one] Une source
       *[other] { $count } sources
    }
text-given-by = texte fourni par { $name }
answer-place-gone = Je ne peux plus publier là-bas la réponse à « { $question } » : le canal a été archivé, ou j’en ai été retiré. Reposez la question ici ou dans un autre canal.
answer-refused = Slack n’a pas accepté la réponse à « { $question } » ({ $code }). Demandez une réponse plus courte, ou adressez-vous à un administrateur de l’espace de travail.
unverified = ⚠ Non vérifié : « { $sentence } » ({ $reason })
disagrees = ⚖ Les sources se contredisent : « { $sentence } », mais [{ $number }] dit « { $quote } »
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } s · { $searches ->
        [one] { $searches } recherche
       *[other] { $searches } recherches
    } · { $pages ->
        [one] { $pages } page lue
       *[other] { $pages } pages lues
    }{ $cost ->
        [0] { "" }
       *[other] { " · " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }
summary = { $spent } · exécution { $run }
details-button = Sources et cheminement
partly-answered = ◐ Réponse partielle. Non trouvé : { $what }
doubts-counted =
    { $count ->
        [one] ⚠ Une phrase n’est pas étayée par ses sources
       *[other] ⚠ { $count } phrases ne sont pas étayées par leurs sources
    }
disagreements-counted =
    { $count ->
        [one] ⚖ Les sources se contredisent sur une phrase
       *[other] ⚖ Les sources se contredisent sur { $count } phrases
    }
notes-counted =
    { $count ->
        [one] ⓘ Une remarque sur la recherche
       *[other] ⓘ { $count } remarques sur la recherche
    }
searched-for = Recherché : { $queries }
follow-ups-heading = Vous pourriez demander ensuite

## Buttons

stop-button = Arrêter
dig-deeper = Approfondir
feedback-good = Utile
feedback-bad = Pas utile
feedback-thanks = Merci. Votre avis est enregistré avec cette réponse.
feedback-ask-why = Merci. Votre avis est enregistré avec cette réponse. Qu’est-ce qui ne va pas ?
delete-answer = Supprimer cette réponse
delete-answer-ask = La réponse est retirée d’ici, et votre question et la réponse sont supprimées des données enregistrées. Cette action est irréversible.
delete-answer-yes = Supprimer
delete-answer-no = Annuler
delete-answer-not-yours = Seule la personne qui a posé la question peut supprimer cette réponse.

## When something is in the way

no-question = Que voulez-vous savoir ? Écrivez votre question juste après m’avoir mentionné, ou utilisez /ask.
question-too-long = Votre question compte { $length } caractères, et je peux en lire au plus { $most }. Raccourcissez-la, ou joignez la partie longue sous forme de fichier.
files-question = Que dit { $names } ?
failed = Je n’ai pas pu aller au bout : { $reason }
retry-button = Réessayer
cannot-open-thread = Je n’ai pas le droit d’ouvrir un fil ici, je réponds donc dans le canal. La personne qui gère ce canal peut m’accorder ce droit.
cannot-read-history = Je ne peux pas lire les messages précédents ici, je ne connais donc que ce qui m’a été demandé directement. La personne qui gère ce canal peut m’accorder ce droit.
history-too-slow = Je n’ai pas pu lire à temps les messages précédents ici, je ne connais donc que ce qui m’a été demandé directement. Réessayer plus tard peut aider.
asked-by = { $name } a demandé : { $question }
question-of = Question de { $name }
only-for-command = Je ne suis pas membre ici : je ne peux répondre qu’à votre commande, et pendant 15 minutes seulement. La personne qui gère ce serveur peut m’inviter.
answer-in-file = La réponse est trop longue pour un message. Le fichier contient le texte complet.
answer-comes-directly = Cela prend plus que les 15 minutes pendant lesquelles Discord me laisse répondre ici à une commande. La réponse vous parviendra en message privé.
direct-closed = Cela prend plus que les 15 minutes pendant lesquelles Discord me laisse répondre ici à une commande, et je ne peux pas vous envoyer de message privé. Autorisez les messages privés, puis reposez la question.
only-for-minutes = Je ne suis pas membre là où vous avez posé la question : Discord ne m’a laissé que 15 minutes pour y répondre à votre commande. Cela a pris plus de temps, la réponse est donc ici.
only-so-many-messages = Je ne suis pas membre là où vous avez posé la question : Discord ne m’y laisse publier que quelques messages par commande. La réponse est donc ici.
cannot-post = Je n’ai pas le droit d’écrire dans ce canal. La personne qui le gère peut m’inviter ou m’accorder ce droit.
file-not-read = Je n’ai pas pu lire le fichier { $name } : { $reason }
file-gone = Je n’ai pas pu lire le fichier { $name } : il a été supprimé.
file-hidden = Je n’ai pas pu lire le fichier { $name } : il est masqué, car l’espace de travail dépasse les limites de son forfait.
file-elsewhere = Je n’ai pas pu lire le fichier { $name } : il est stocké dans un autre service. Partagez le fichier lui-même.
file-not-shown = Je n’ai pas pu lire le fichier { $name } : je ne le vois pas ici. Partagez-le à nouveau, ou collez son texte.
file-is-canvas = Je n’ai pas pu lire { $name } : un canevas ou une liste n’a pas de fichier à télécharger. Collez son texte, ou partagez un export.
link-not-read = Je n’ai pas pu lire { $url } : { $reason }
more-elsewhere = J’ai trouvé d’autres éléments dans des endroits que vous seul pouvez voir. Demandez-moi en message privé pour que j’y cherche aussi.
more-elsewhere-here = Pour votre question dans { $channel }, j’ai trouvé d’autres éléments dans des canaux que tout le monde là-bas ne peut pas lire. Demandez-moi ici pour que j’y cherche aussi.
documents-dated =
    { $after ->
        [none] jusqu’au { $before }
       *[other]
            { $before ->
                [none] depuis le { $after }
               *[other] du { $after } au { $before }
            }
    }
documents-narrowed = Recherche limitée à : { $only }
documents-unmatched =
    Aucun document ne correspond : { $only }.{ $names ->
        [none] {""}
       *[other] {" "}Noms proches : { $names }.
    }
documents-widened = Rien trouvé dans ces documents : { $only }. J’ai cherché dans tous les documents.
search-widened =
    { $freshness ->
        [day] Rien trouvé datant du dernier jour
        [week] Rien trouvé datant de la dernière semaine
        [month] Rien trouvé datant du dernier mois
        [year] Rien trouvé datant de la dernière année
       *[any] Rien trouvé
    }{ $domains ->
        [any] {""}
       *[other] {" "}sur { $domains }
    } ; j’ai cherché sans cette limite.
links-left-out =
    { $count ->
        [one] Un autre lien n’a pas été lu, à cause de la limite par réponse.
       *[other] { $count } autres liens n’ont pas été lus, à cause de la limite par réponse.
    }
try-again = Impossible d’enregistrer. Veuillez réessayer dans un instant.
not-kept = Je n’ai pas pu enregistrer votre question. Veuillez la reposer dans une minute.
command-broke = Cela n’a pas fonctionné. Veuillez réessayer dans une minute.
run-broke = Un problème est survenu dans l’exécution { $run }. Reposer la question peut aider. Sinon, transmettez ce numéro à votre exploitant.
question-gone = Cette question n’existe plus. Veuillez la reposer.
suggestion-gone = Cette suggestion n’existe plus. Posez plutôt la question dans le fil.
answer-out-of-reach = Cette réponse ne peut pas être affichée, car elle utilise des documents qui ne peuvent pas être lus ici.
words-out-of-reach = (non affiché : tiré de documents qui ne peuvent pas être lus ici)
documents-out-of-reach = L’accès aux documents a changé pendant que { -brand } répondait. Veuillez reposer la question.
earlier-out-of-reach = Des réponses précédentes de ce fil ont été laissées de côté, car elles utilisent des documents dans lesquels on ne peut plus chercher ici.
place-unknown = Je ne peux pas répondre dans ce type de canal. Posez la question dans un autre.
asked-already = Cette question a déjà été posée. Consultez sa réponse, ou attendez-la.

## Who may ask

denied-workspace = { -brand } n’est pas activé pour cet espace de travail. Un administrateur de { -brand } peut l’activer.
denied-channel = { -brand } ne répond pas dans ce canal. Essayez-en un autre, ou demandez à un administrateur de { -brand } de l’autoriser ici.
denied-user = Vous n’êtes pas sur la liste des personnes qui peuvent interroger { -brand }. Un administrateur de { -brand } peut vous ajouter.
denied-role = Il vous faut un autre rôle pour interroger { -brand }. Un administrateur de { -brand } peut vous dire lequel, ou autoriser le vôtre.
denied-direct = { -brand } n’accepte pas les messages privés. Posez la question dans un canal, ou demandez à un administrateur de { -brand } de les autoriser.
denied-console = Les questions depuis la console ne sont pas autorisées. L’exploitant de { -brand } peut les autoriser en ajoutant { $id } à { $setting }.
denied-console-roles = { $setting } n’autorise que les personnes ayant un rôle, et la console n’a pas de rôles. L’exploitant de { -brand } peut nommer des personnes dans { $instead }.
denied-guest = { -brand } ne répond pas aux invités ici. Un administrateur de { -brand } peut changer cela.
denied-unknown = { -brand } n’a pas pu déterminer si vous êtes invité, et les invités ne peuvent pas poser de questions ici. Veuillez réessayer dans un instant.
denied-day-user = Votre budget de recherche du jour est épuisé. Vous pourrez reposer des questions à 00:00 UTC, dans { $hours ->
        [one] moins d’une heure
       *[other] moins de { $hours } heures
    }.
denied-day-channel = Le budget de recherche du jour de ce canal est épuisé. Vous pourrez y reposer des questions à 00:00 UTC, dans { $hours ->
        [one] moins d’une heure
       *[other] moins de { $hours } heures
    }.
denied-day-workspace = Le budget de recherche du jour de cet espace de travail est épuisé. Vous pourrez reposer des questions à 00:00 UTC, dans { $hours ->
        [one] moins d’une heure
       *[other] moins de { $hours } heures
    }.
denied-day-uploads = Chaque personne peut envoyer { $limit } Mo de fichiers par jour, et ceux-ci dépassent cette limite. Vous pourrez en renvoyer à 00:00 UTC, dans { $hours ->
        [one] moins d’une heure
       *[other] moins de { $hours } heures
    }.
denied-day-questions = { $limit ->
        [one] Vous avez posé votre question du jour.
       *[other] Vous avez posé vos { $limit } questions du jour.
    } Vous pourrez en poser d’autres à 00:00 UTC, dans { $hours ->
        [one] moins d’une heure
       *[other] moins de { $hours } heures
    }.

## Rules of a channel

rules-title = Comment { -brand } répond dans ce canal
rules-line = { $key } : { $value }
rules-none = Ce canal n’a pas de règles propres ; les réglages généraux s’appliquent.
rules-set = C’est fait. Dans ce canal, { $key } vaut maintenant : { $value }
rules-reset = C’est fait. Les réglages généraux s’appliquent à nouveau à ce canal.
rules-unknown = Il n’y a pas de règle nommée « { $key } ». Vous pouvez régler : { $known }
rules-invalid = « { $value } » ne convient pas pour { $key }. Valeurs possibles : { $allowed }
rules-too-long = C’est trop long pour { $key } : { $most } caractères au plus.
rules-not-admin = Seul un administrateur de { -brand } peut changer sa façon de répondre ici.
rules-help = { $show } affiche les règles de ce canal, { $set } en change une ({ $keys }), { $reset } rétablit les réglages généraux.
searched-title = Où { -brand } cherche ici
searched-providers = Moteurs de recherche : { $names }
searched-collection = Documents « { $name } » : { $why }
searched-why-everybody = pour toutes les personnes qui peuvent poser des questions
searched-why-channels = ce canal peut y chercher
searched-why-people = vous pouvez y chercher
searched-why-slack-groups = un groupe d’utilisateurs dont vous faites partie peut y chercher
searched-why-discord-roles = un rôle que vous avez peut y chercher
searched-why-console-users = vous pouvez y chercher
searched-why-console-groups = un groupe dont vous faites partie peut y chercher
searched-others = Documents hors collection : pour toutes les personnes qui peuvent poser des questions
searched-all = Tous les documents indexés : pour toutes les personnes qui peuvent poser des questions
searched-not = { $count ->
    [one] Une autre collection de documents n’est pas consultée ici.
   *[other] { $count } autres collections de documents ne sont pas consultées ici.
}
searched-guest = Aucun document : ils ne sont consultés ni pour les invités, ni là où des personnes extérieures peuvent lire.
searched-unusable = Aucun document : l’exploitant de { -brand } doit corriger les collections dans les réglages.

## Standing questions

watch-changed = Ce qui a changé depuis { $since }
watch-now = Maintenant :
watch-before = Avant :
watch-over =
    Je ne vérifie plus cette question, car personne ne l’a ouverte ni n’y a répondu ici depuis { $days ->
        [one] un jour
       *[other] { $days } jours
    } : { $question }
watch-begun = Je vérifierai à nouveau { $schedule } et ne publierai ici que si la réponse change. Son identifiant est { $id }.
watch-pressed = Question suivie : je publie ici si la réponse change.
watch-pressed-daily = Question suivie chaque jour : vous serez informé ici si la réponse change.
watch-pressed-weekly = Question suivie chaque semaine : vous serez informé ici si la réponse change.
watch-badge =
    { $schedule ->
        [daily] Suivie chaque jour
        [weekly] Suivie chaque semaine
        [paused] Suivi en pause
        [ended] Suivi terminé
       *[other] Suivie
    }
watch-daily = chaque jour
watch-weekly = chaque semaine
watch-cron = selon la planification « { $schedule } » (UTC)
watch-line = { $id } : { $question } ({ $schedule } ; { $state })
watch-due = prochaine vérification le { $due }
watch-paused = en pause
watch-ended = terminé
watch-looked = {", "}dernière vérification le { $looked } : { $outcome }
watch-outcome-same = aucun changement
watch-outcome-changed = la réponse a changé
watch-outcome-no-answer = aucune réponse trouvée
watch-outcome-budget = le budget du jour était épuisé
watch-outcome-refused = il n’est plus possible d’y poser des questions ou d’y publier
watch-none = Vous ne suivez encore aucune question.
watch-unknown = Vous ne suivez aucune question portant l’identifiant { $id }.
watch-too-many =
    { $most ->
        [0] Les questions ne peuvent pas être suivies ici.
        [one] Vous suivez déjà une question, et c’est le maximum. Arrêtez d’abord celle-ci.
       *[other] Vous suivez déjà { $most } questions, et c’est le maximum. Arrêtez-en d’abord une.
    }
watch-schedule-unknown = « { $schedule } » n’est pas une planification. Utilisez daily (chaque jour), weekly (chaque semaine) ou une expression cron à cinq champs, comme "0 9 * * 1-5" (en UTC).
watch-schedule-too-often = « { $schedule } » est trop fréquent. Laissez au moins une heure entre deux vérifications.
watch-done-pause = En pause : { $question }
watch-done-resume = À nouveau vérifiée : { $question }
watch-done-stop = N’est plus vérifiée : { $question }
watch-help = { $command } daily QUESTION suit une question (daily, weekly ou une expression cron entre guillemets). { $command } liste les vôtres. { $command } pause ID, resume ID et stop ID en modifient une.
watch-button = Suivre
watch-description = Suivre une question et savoir quand sa réponse change ; sans question, lister les vôtres
watch-name = suivre
watch-question = La question à suivre ; laissez vide pour lister les vôtres
watch-every = Fréquence de vérification : daily, weekly ou une expression cron en UTC
watch-id = L’identifiant d’une de vos questions, pour la modifier
watch-action = Ce qu’il faut en faire
watch-pause = Mettre en pause
watch-resume = Reprendre
watch-stop = Arrêter
watch-heading = Questions suivies
watch-why = Reposer la dernière question chaque jour, et publier ici si la réponse change.
watch-intro = Ces questions sont reposées régulièrement. Quand une réponse change, vous le lisez dans sa conversation. Pour en ajouter une, choisissez « Suivre » dans une conversation.
watch-manage = Modifier « { $question } »

correction-noted = C’est noté : { $said }
correction-noted-on = C’est noté pour « { $question } » : { $said }
correction-not-kept = Je n’ai pas gardé cette correction : vous l’avez retirée, ou vous en avez fait { $most } en un jour.
correction-guest = Footnote ne garde pas les corrections des invités, ni celles des canaux partagés avec une autre entreprise.
correction-title = Correction de { $name }, { $when }
correction-title-own = Votre correction, { $when }
correction-of = Correction de la réponse à : { $question }
correction-remove = Retirer
correction-removed = Retirée. Les prochaines réponses ne l’utiliseront pas.
correction-unknown = Aucune correction ne porte l’identifiant { $id }.
correction-not-yours = Seul son auteur ou un administrateur peut retirer une correction.
correction-heading = Corrections
correction-begin = Corriger
correction-say = Qu’est-ce qui est juste ? Les prochaines questions le trouveront comme source.
correction-intro = Ce qui a été signalé comme faux dans une réponse. Les prochaines réponses s’en servent comme source.
correction-none = Pas encore de corrections. Répondez à une réponse en disant ce qui est faux : la correction apparaîtra ici.

## Being forgotten

forget-ask =
    J’ai enregistré { $messages ->
        [one] { $messages } message
       *[other] { $messages } messages
    } de votre part et { $answers ->
        [0] aucune réponse
        [one] une réponse
       *[other] { $answers } réponses
    } pour vous, avec ce qui a été trouvé à cet effet. Je peux tout supprimer, pour tous les canaux. Cette action est irréversible. Ce qui est publié ici y reste jusqu’à ce que quelqu’un le supprime. Pour continuer : { $command }
forget-nothing = Je n’ai rien enregistré de ce que vous avez écrit.
forget-done =
    { $messages ->
        [0] C’est fait. Je n’ai rien enregistré de ce que vous avez écrit.
        [one] C’est fait. J’ai supprimé { $messages } message de votre part, et ce que j’avais trouvé pour vous.
       *[other] C’est fait. J’ai supprimé { $messages } messages de votre part, et ce que j’avais trouvé pour vous.
    } Ce qui est publié dans les discussions y reste jusqu’à ce que quelqu’un le supprime.
forget-help = { $command } supprime ce que j’ai enregistré de ce que vous avez écrit.

## Home

home-title = Posez une question, obtenez une réponse vérifiable
home-intro = { -brand } cherche, lit les pages et répond avec une note pour chaque affirmation.
home-how = Comment poser une question
home-how-mention = Mentionnez-moi avec votre question dans un canal où je suis.
home-how-direct = Écrivez-moi directement, sans mention.
home-how-follow-up = Répondez dans le fil pour en demander plus ; je me souviens de ce qui y a été dit.
home-how-command = Utilisez /ask dans un canal où je suis.
home-how-shortcut = Choisissez « Rechercher ceci » dans le menu d’un message.
home-how-stop = Cliquez sur Arrêter, ou écrivez « stop ».
home-connected = Connecté
home-reasoner = Répond avec : { $name }
home-providers = Cherche avec : { $names }
home-documents =
    { $count ->
        [one] { $count } document local
       *[other] { $count } documents locaux
    }
home-usage = Ce mois-ci
home-questions =
    { $count ->
        [one] { $count } question
       *[other] { $count } questions
    }
home-answered =
    { $count ->
        [one] { $count } répondue
       *[other] { $count } répondues
    }
home-cost = { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD dépensés

## Commands

ask-description = Rechercher une question et obtenir une réponse avec des notes
ask-question = Ce que vous voulez savoir
ask-question-or-form = Ce que vous voulez savoir ; laissez vide pour un formulaire plus grand
ask-file = Un fichier à lire avec la question
ask-depth = Le niveau d’approfondissement
depth-auto = Automatique
depth-quick = Rapide : une recherche
depth-standard = Standard : chercher et lire
depth-deep = Approfondi : plus long, lit davantage
depth-exhaustive = Exhaustif : tout sur un sujet, jusqu’à 150 recherches
depth-tag-quick = Rapide
depth-tag-deep = Approfondi
depth-tag-exhaustive = Exhaustif
stop-description = Arrêter la recherche en cours ici
rules-description = Voir ou changer la façon dont Footnote répond dans ce canal
shortcut-name = Rechercher ceci
shortcut-check-name = Vérifier les faits
command-accepted = Je m’en occupe : { $question }
only-me-accepted = Je réponds dans un message privé, que vous seul pouvez voir.
only-me-refused = Je ne peux pas vous envoyer de messages privés, donc je ne peux pas répondre à vous seul.
stop-name = arrêter
forget-name = oublie-moi
forget-description = Voir ce qui est enregistré de ce que vous avez écrit, et le faire supprimer
forget-confirm = Choisissez oui pour le faire supprimer ; c’est irréversible
forget-yes = Oui, supprimer
ask-name = demander
rules-show-description = Voir comment Footnote répond dans ce canal
rules-set-description = Changer un réglage des réponses de Footnote dans ce canal
rules-reset-description = Revenir aux réglages généraux dans ce canal
rules-key = Le réglage à changer
rules-value = Sa nouvelle valeur

## The pane beside the conversation

prompts-title = Par exemple
document-asked-about = Quels sont les points principaux de « { $title } » ?
prompt-compare = Comparer deux choses
prompt-compare-message = Comment se comparent pompes à chaleur et chaudières à gaz en coût et en émissions ?
prompt-explain = Expliquer une nouveauté
prompt-explain-message = Quoi de neuf dans la dernière version de Python, et pourquoi est-ce important ?
prompt-summarize = Résumer une page
prompt-summarize-message = Résume https://fr.wikipedia.org/wiki/Citation en cinq points.

## Remarks under an answer

budget-model-calls = Le budget de { NUMBER($limit, useGrouping: 0) } appels au modèle était épuisé.
budget-input-tokens = Le budget de { NUMBER($limit, useGrouping: 0) } jetons en entrée était épuisé.
budget-usd = Le budget de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD était épuisé.
budget-seconds = Le temps de { NUMBER($limit, maximumFractionDigits: 0) } secondes était écoulé.
budget-searches = Le budget de { NUMBER($limit, useGrouping: 0) } recherches était épuisé.
budget-pages = Le budget de { NUMBER($limit, useGrouping: 0) } pages était épuisé.
budget-output-tokens = Le budget de { NUMBER($limit, useGrouping: 0) } jetons en sortie était épuisé.
budget-day-user = Votre budget de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD pour aujourd’hui était épuisé.
budget-day-channel = Le budget de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD de ce canal pour aujourd’hui était épuisé.
budget-day-workspace = Le budget de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD de cet espace de travail pour aujourd’hui était épuisé.
rests-on-found = La réponse s’appuie sur ce qui avait été trouvé jusque-là.
quoted-without-model = Ceci a été trouvé et cité sans le modèle.
closest-passages = Passages les plus proches
closest-none-documents = Vos documents n’en disent rien.
closest-none = Rien de ce qui a été trouvé ne répond à cette question.
closest-nearest = Les pages les plus proches : { $pages }
validity-draft = brouillon
validity-deprecated = obsolète
validity-archived = archivé
validity-ended = valable jusqu’au { $words }
validity-early = valable à partir du { $words }
validity-replaced =
    { $words ->
        [none] remplacé
       *[other] remplacé par { $words }
    }
closest-greeting = Posez-moi une question, et je cite les passages les plus proches que je trouve, chacun avec une note.
judged-unknown = Évaluation : les documents ne mentionnent pas { $names }
judged-open = Évaluation : la question ne dit pas de quoi il s’agit
judged-share = Évaluation : le meilleur passage couvre { $covered } % de la question ; il en faut { $enough } %
stopped-before-complete = Arrêté avant que la réponse soit complète.
answer-cut = Cette réponse a été coupée à la limite de { NUMBER($limit, useGrouping: 0) } jetons : demandez-en moins, ou demandez la suite.
research-outgrown = La recherche s’est arrêtée, car elle ne tenait plus dans la fenêtre de contexte du modèle.
part-failed = « { $question } » n’a pas pu être recherché : { $reason }
model-away = Le modèle est injoignable pour le moment. Votre administrateur peut voir pourquoi.
model-declined = Le modèle a refusé de traiter cette question. Posez-la autrement.
model-unusable = La réponse du modèle n’a pas pu être utilisée. Réessayez, ou demandez-en moins.
peer-away = Un service nécessaire est injoignable pour le moment. Votre administrateur peut voir pourquoi.
peer-refused = Un service nécessaire a refusé la requête. Votre administrateur peut voir pourquoi.
reply-unusable = La réponse du service n’a pas pu être utilisée.
documents-unindexed = { $count ->
    [one] Un document n’est pas encore indexé et n’a pas pu être consulté
   *[other] { $count } documents ne sont pas encore indexés et n’ont pas pu être consultés
 } ; reposez la question quand ce sera fait.
documents-failed = Ces fichiers n’ont pas pu être lus : { $names }.
documents-partly = Une partie n’a pas pu être lue : { $names }.
documents-unread = { $count } des { $files } fichiers ici sont d’un type qui n’est pas lu ({ $kinds }).
queries-withheld = Certaines requêtes n’ont pas été envoyées sur le Web, car elles contenaient des mots tirés de documents ou de réponses ; la page de l’exécution les indique.
search-unanswered = Le service de recherche { $names } n’a pas répondu.
page-away = La page est injoignable ; réessayez plus tard.
page-refused = La page ne peut pas être lue par un programme ; ouvrez-la vous-même, et collez le texte.
page-unreadable = Elle ne contient aucun texte lisible ; collez le texte.
picture-too-large = L’image dépasse { $limit } Mo ; envoyez une copie plus petite.
picture-too-wide = L’image dépasse { $limit } pixels en largeur ou en hauteur ; envoyez une copie plus petite, ou la partie utile.
picture-damaged = L’image est endommagée ; envoyez-la à nouveau.
picture-too-many = Au plus { $limit } images sont lues par question ; envoyez les autres avec la suivante.
picture-nothing = Le modèle n’y a rien vu ; écrivez ce qu’elle montre.
picture-no-model = Les images ne sont lues qu’avec un modèle ; écrivez ce qu’elle montre.
picture-no-sight = Le modèle { $model } ne lit pas les images ; écrivez ce qu’elle montre.
month-day = { $day } { $month ->
    [1] janvier
    [2] février
    [3] mars
    [4] avril
    [5] mai
    [6] juin
    [7] juillet
    [8] août
    [9] septembre
    [10] octobre
    [11] novembre
   *[12] décembre
 }
day = { $date } { $year }
picture-sent = Image envoyée par { $name }, { $date }
picture-sent-earlier = Image envoyée par { $name }
price-unknown = Le prix de { $model } est inconnu : son coût n’est pas compris dans le total.
asked-here = ici
asked-elsewhere = dans un autre canal
asked-there = dans { $place }
asked-earlier = Question posée { $where } le { $date } : « { $question } ».
verify-changed =
    { $corrected ->
        [0] { $left ->
            [one] Une phrase contredisait ses sources ; elle a été retirée.
           *[other] { $left } phrases contredisaient leurs sources ; elles ont été retirées.
        }
        [one] { $left ->
            [0] Une phrase a été corrigée : ses sources ne l’étayaient pas.
            [one] Une phrase a été corrigée et une autre retirée : leurs sources ne les étayaient pas.
           *[other] Une phrase a été corrigée et { $left } retirées : leurs sources ne les étayaient pas.
        }
       *[other] { $left ->
            [0] { $corrected } phrases ont été corrigées : leurs sources ne les étayaient pas.
            [one] { $corrected } phrases ont été corrigées et une retirée : leurs sources ne les étayaient pas.
           *[other] { $corrected } phrases ont été corrigées et { $left } retirées : leurs sources ne les étayaient pas.
        }
    }
doubt-contradicted = ses notes la contredisent
doubt-no-footnote = elle n’a pas de note
doubt-not-covered = ses notes ne disent pas cela
doubt-not-quoted = ses notes ne mentionnent pas : { $facts }

## Reports

# Verdicts on the statements of a text
check-none = Rien dans ce texte ne peut être vérifié : il ne contient ni chiffres, ni dates, ni noms, ni autres faits.
check-counts = Comparé à ce qui a été trouvé : { $counts }.
check-count-supported =
    { $count ->
        [one] { $count } étayée
       *[other] { $count } étayées
    }
check-count-partly =
    { $count ->
        [one] { $count } partiellement étayée
       *[other] { $count } partiellement étayées
    }
check-count-contradicted =
    { $count ->
        [one] { $count } contredite
       *[other] { $count } contredites
    }
check-count-nothing = { $count } sans résultat
check-count-uncheckable =
    { $count ->
        [one] { $count } non vérifiable
       *[other] { $count } non vérifiables
    }
check-supported = Étayée
check-partly = Partiellement étayée
check-contradicted = Contredite
check-nothing = Rien trouvé
check-uncheckable = Non vérifiable
check-unsaid = Absent des sources : { $words }
check-needs-model = Vérifier les affirmations d’un texte nécessite un modèle de langage.

report-limits = Ce qui n’a pas été trouvé
report-dropped = N’est plus traité : { $topics }.
report-separator = { " ; " }
report-cut-short = Les parties du rapport qui n’étaient pas encore vérifiées ont été laissées de côté.
report-not-drafted = Le rapport n’a pas pu être rédigé ; ceci est donc une réponse simple.
report-not-sourced = Aucune partie du rapport n’a pu être vérifiée avec une source ; ceci est donc une réponse simple.
report-omitted-missed = « { $name } » a été laissé de côté : le temps manquait pour le vérifier.
report-omitted-failed = « { $name } » a été laissé de côté : sa vérification a échoué.
report-omitted-nothing = « { $name } » a été laissé de côté : rien n’a été trouvé pour le vérifier.
report-cut = ⚠ Cette partie a été coupée à la limite de { NUMBER($limit, useGrouping: 0) } jetons.
report-stage =
    { $stage ->
        [draft] Brouillon
        [query] Choix des recherches
        [reading] Recherche et lecture
       *[revision] Révision
    }, en { NUMBER($seconds, maximumFractionDigits: 1) } s au plus
report-stage-missed = pas terminé à temps
report-stage-nothing = rien trouvé
report-left-out = laissé de côté
report-part = partie { $number }
report-unsourced = Vérifié avec aucune source : { $name }
report-deleted = Laissé de côté, car aucune source ne l’étaye : { $name }
report-revised =
    Révisé avec { $pages ->
        [one] { $pages } page
       *[other] { $pages } pages
    }, { $kept } % du brouillon conservé : { $name }

## The web console

web-ask = Demander
web-overview = Aperçu
web-handbook = Manuel
web-places = Menu principal
web-skip = Aller au contenu
web-threads = Conversations
web-no-threads = Vos conversations apparaîtront ici.
web-new = Nouvelle question
web-follow-up = Poser une autre question…
web-question = Que voulez-vous savoir ?
web-no-question = Écrivez votre question avec des mots.
web-depth = Profondeur
web-send = Demander
upload-files = Fichiers
upload-attach = Joindre des fichiers
upload-drop = Déposez des fichiers pour poser une question à leur sujet
upload-remove = Retirer { $name }
upload-empty = Le fichier { $name } est vide. Choisissez-en un autre.
upload-too-large = Le fichier { $name } dépasse { $limit } Mo. Choisissez-en un plus petit, ou collez la partie utile.
upload-all-too-large = Cela fait plus de { $limit } Mo à la fois. Envoyez des fichiers moins nombreux ou plus petits.
upload-too-many = Au plus { $limit } fichiers peuvent être envoyés à la fois. Envoyez les autres ensuite.
upload-unreadable = Le fichier { $name } ne peut pas être lu. Sont lus : texte, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB et CSV sans mot de passe, et les images PNG, JPEG, WebP et GIF.
upload-gone = Ce fichier n’est plus là. Joignez-le à nouveau.
upload-without = Pas encore envoyée. Envoyez à nouveau pour poser la question sans ce fichier.
web-enter = Entrée pour envoyer
web-graph = Les sous-questions et leurs dépendances
web-state-waiting = en attente
web-state-running = en cours
web-state-done = terminé
web-state-failed = échec
web-ready = La réponse est prête.
web-indexing = Indexation des documents : { $done } fichiers sur { $total } sont déjà consultables.
web-lost = Connexion perdue. Reconnexion…
web-unsent = L’envoi n’a pas abouti. Veuillez réessayer.
web-resending = Votre question n’est pas encore envoyée. Nouvel essai…
web-how = Comment cette réponse a-t-elle été obtenue ?
web-source = Source { $number }
web-quotes =
    { $count ->
        [one] { $count } citation
       *[other] { $count } citations
    }
web-quote = Citation { $number }
web-in-the-page = dans la page
web-sources-count = Sources ({ $count })
web-closest = Passages les plus proches dans vos documents
web-closest-why = Des citations, pas une réponse : aucun modèle de langage ne les a lues.
web-closest-has = Contient : { $words }
web-closest-has-none = Ne contient aucun mot de la question
web-closest-open = Ouvrir à cet endroit
web-closest-lacking = Dans aucun passage : { $words }
web-searched = Recherché : { $words }
web-copy-code = Copier le code
web-footnote-before = Note précédente
web-footnote-after = Note suivante
web-source-close = Fermer la source
web-run-said = Ce que le modèle a dit
web-read-at = lu le
web-copy = Copier en Markdown
web-copied = Copié.
web-copy-this = Copier
web-more = Plus d’actions sur cette question
web-edit = Modifier la question
web-edit-send = Enregistrer
web-cancel = Annuler
web-regenerate = Régénérer
web-delete = Supprimer la question et sa réponse
web-delete-sure = Supprimer ? Cette action est irréversible.
web-newest = Le plus récent
web-not-answered = La question n’a pas pu recevoir de réponse.
web-show-all = Tout afficher
web-show-less = Afficher moins
web-failed = Un problème est survenu
web-not-found = Cette page n’existe pas
web-not-found-why = L’adresse est peut-être erronée, ou le contenu a été supprimé.
web-back = Retour à l’accueil
web-failed-why = La console ne peut pas faire cela ici. Revenez en arrière et utilisez les boutons et les liens de ses pages.
web-broke = C’est un défaut de { -brand }, vous n’y êtes pour rien, et il a été consigné dans le journal. Réessayer peut aider. Sinon, transmettez à votre exploitant la référence { $reference }.
web-form-unreadable = Le formulaire n’est pas arrivé en entier. Revenez en arrière et renvoyez-le.
web-too-large = C’est trop volumineux pour être envoyé : plus de { $most }.
web-send-as = Le type n’est pas le bon. Envoyez-le en { $kind }.
web-not-json = Ce n’est pas du JSON valide.
web-depth-unknown = Cette profondeur n’existe pas. Choisissez-en une dans le menu.
web-starting = { -brand } démarre ou s’arrête. Réessayez dans un instant.
web-files-again = Choisissez de nouveau vos fichiers
web-for-operators = Seuls les exploitants de { -brand } peuvent voir cette page.
web-handbook-gone = Cette page n’existe pas dans le manuel.
web-too-many-streams = Trop de pages sont ouvertes à la fois. Fermez-en quelques-unes.
refused-tries = Trop de tentatives erronées. Attendez une minute, puis réessayez.
refused-requests = Trop de requêtes en une minute. Attendez un peu, puis réessayez.
refused-token = Ce jeton n’est pas le bon. Le bon est dans FOOTNOTE_CONSOLE_TOKEN.
refused-sign-in = Connectez-vous d’abord. Un programme envoie le jeton sous la forme « Authorization: Bearer ».
refused-unknown = { -brand } ne peut pas savoir qui vous êtes pour le moment. Réessayez dans un instant.
refused-several = L’en-tête { $header } ne désigne pas exactement une personne.
refused-by-proxy = Vous n’êtes pas connecté. Ouvrez la console par le proxy qui connecte les personnes.
refused-host = La console ne se connaît pas sous le nom { $host }. Son exploitant peut indiquer dans FOOTNOTE_PUBLIC_URL l’adresse à laquelle on la joint.
refused-path = Ce n’est pas un chemin de la console.
refused-cookie = Le navigateur a envoyé un cookie deux fois. Rechargez la page.
refused-site = Cette requête vient d’un autre site. Ouvrez la console elle-même.
refused-elsewhere = Cette console ne s’utilise que sur la machine où elle tourne, à l’adresse http://127.0.0.1.
refused-open-proxy = Derrière un proxy, la console a besoin de FOOTNOTE_CONSOLE_TOKEN.
web-sign-in = Se connecter
web-sign-in-why = Saisissez une fois le jeton de la console. Votre exploitant peut vous le donner.
web-sign-out = Se déconnecter
web-sign-out-here-why = Les conversations sont conservées ; ce navigateur redemandera le jeton.
web-sign-out-here = Se déconnecter de ce navigateur
web-sign-out-all-why = Si une personne partie connaît le jeton, définissez-en aussi un nouveau.
web-sign-out-all = Se déconnecter partout
web-token = Jeton
web-token-wrong = Jeton incorrect. Veuillez le vérifier.
sso-failed = Vous n’êtes pas connecté
sso-again = Réessayer
sso-signed-out = Vous êtes déconnecté
sso-leaving = Vous êtes déconnecté de Footnote. Votre service d’authentification va maintenant vous déconnecter aussi.
sso-leave = Continuer
sso-signed-in-as = Vous êtes connecté en tant que { $name }. Les conversations sont conservées.
sso-sign-out-all-why = Cela met fin à vos sessions dans tous les navigateurs.
sso-away = Le service d’authentification est injoignable pour le moment. Réessayez dans un instant.
sso-denied = Le service d’authentification ne vous a pas laissé entrer : { $reason }
sso-stale = Cette connexion a pris trop de temps ou a commencé dans un autre navigateur. Veuillez réessayer.
sso-not-allowed = Votre compte ne peut pas utiliser cette console. Demandez l’accès à votre administrateur.
sso-nameless = Le service d’authentification n’envoie rien d’utilisable dans la revendication « { $claim } », qui identifie les personnes ici. Votre administrateur peut corriger cela.
sso-refused = La réponse du service d’authentification n’est pas fiable. Votre administrateur en trouve la raison dans le journal.
web-thread-gone = Cette conversation n’existe plus.
web-too-many-questions = Trop de questions en une minute. Veuillez patienter un peu, puis redemander.
web-was-stop = Il n’y a rien à arrêter ici. Pour arrêter une réponse en cours, cliquez sur Arrêter en dessous.
web-not-here = Cette question a été posée dans une discussion. Veuillez continuer là-bas.
web-not-yours = Seule la personne qui a posé cette question peut la modifier.

## The console: asking

web-plan-nodes = { $done } parties de la recherche terminées sur { $total }
web-plan-parts = { $done } parties terminées sur { $total }
web-plan-searched =
    { $count ->
        [0] Pas encore de résultats
        [one] Une recherche
       *[other] { $count } recherches
    }
web-plan-read =
    { $count ->
        [0] Aucune page lue
        [one] Une page lue
       *[other] { $count } pages lues
    }
web-plan-unread =
    { $count ->
        [one] une illisible
       *[other] { $count } illisibles
    }
web-plan-nothing-yet = Rien trouvé pour l’instant.
web-plan-done = Recherché en { NUMBER($seconds, maximumFractionDigits: 1) } s
web-plan = Le plan
web-plan-node = Recherche de : { $title }
web-plan-part = En cours : { $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } s

### What a question searches

web-sources-asked = Cherche dans { $asked } sources sur { $all }
web-sources-which = Où cette question est recherchée
web-sources-one = Cherche dans :
web-sources-nothing = Il n’y a ici aucune source dans laquelle vous pouvez chercher.
web-sources-none = Choisissez au moins une source.
web-source-other-documents = Autres documents
web-source-web = Web
web-source-count =
    { $count ->
        [one] { $count } document
       *[other] { $count } documents
    }
prompt-wiki-building = Qui a conçu la tour Eiffel, et quelle est sa hauteur ?
prompt-wiki-nature = Pourquoi le ciel est-il bleu ?
prompt-wiki-history = Quand et par qui l’imprimerie a-t-elle été inventée ?

### Preferences and keys

web-prefs = Préférences
web-prefs-keep = Enregistrer
web-theme = Apparence
web-theme-system = Comme le système
web-theme-light = Clair
web-theme-dark = Sombre
web-language = Langue
web-language-browser = Comme le navigateur
web-language-partly = { $name } (partiel)
web-zone = Fuseau horaire
web-zone-browser = Comme le navigateur
web-zone-why = Les dates et heures de toutes les pages sont affichées dans ce fuseau horaire.
web-speak = Dicter la question
web-speak-failed = Le microphone n’a pas pu être utilisé.
web-keys = Raccourcis clavier
web-key-send = Envoyer la question
web-key-line = Commencer une nouvelle ligne
web-key-box = Aller au champ de question
web-key-mark = Aller à la note, au lien ou au bouton suivant
web-key-close = Fermer une citation, un menu ou cette liste
web-key-keys = Afficher cette liste

## The pages that explain a run

web-you = Vous
web-run-asked = Question de { $name } · { $place }
web-run-conversation = Vers la conversation
web-run-understood = Comprise ainsi :
web-run-sections = Sur cette page
web-run-working = Footnote y travaille. Cette page se met à jour au fur et à mesure.
web-run-pruned = Les étapes de cette exécution ont été supprimées en raison de leur âge. Il n’en reste que la réponse.
web-run-state-accepted = En attente
web-run-state-running = En cours
web-run-state-answered = Répondue
web-run-state-partial = Répondue en partie
web-run-state-not-found = Non trouvée
web-run-state-failed = Échec
web-run-state-stopped = Arrêtée
web-run-state-removed = Supprimée
web-run-step-waiting = en attente
web-run-step-running = en cours
web-run-step-done = terminé
web-run-step-failed = échec
web-run-took = De la question à la réponse
web-run-worked = Temps de travail
web-run-depth = Profondeur
web-run-depth-auto = automatique
web-run-depth-quick = rapide
web-run-depth-standard = standard
web-run-depth-deep = approfondie
web-run-depth-exhaustive = exhaustive
web-run-reasoner = Réponse par
web-run-searches = Recherches
web-run-pages-read = Pages lues
web-run-calls = Appels au modèle
web-run-tokens-in = Jetons en entrée
web-run-tokens-cached = Jetons en cache
web-run-tokens-out = Jetons en sortie
web-run-cost = Coût
web-run-attempts = Tentatives
web-run-feedback = Avis
web-run-answer = La réponse, phrase par phrase
web-run-answer-hint = À côté de chaque phrase figurent les passages qui l’étayent. Un numéro ouvre la page telle qu’elle a été lue.
web-run-more-quotes =
    { $count ->
        [one] Un autre passage de ces pages
       *[other] { $count } autres passages de ces pages
    }
web-run-disagrees = Mais la page [{ $number }] dit
web-run-not-verbatim = pas mot pour mot dans la page enregistrée
web-run-page-gone = la page enregistrée n’existe plus
web-run-checks = Vérifications
web-run-check-quotes = { $good } citations sur { $all } correspondent mot pour mot aux pages enregistrées.
web-run-check-cited = { $cited } phrases, titres et remarques sur { $all } ont une note.
web-run-check-no-doubt = Chaque chiffre, date et nom figure dans sa source.
web-run-check-verifying = Le petit modèle compare les phrases à leurs citations.
web-run-check-verified = Selon le petit modèle, { $good } phrases citées sur { $all } sont étayées par leurs citations.
web-run-check-not-verified = Le petit modèle n’a pas pu vérifier les phrases : { $problem }
web-run-verdicts = Le verdict du petit modèle sur chaque phrase
web-run-verdicts-hint = Il a reçu chaque phrase avec exactement les citations sur lesquelles elle s’appuie.
web-run-verdict-supported = Étayée.
web-run-verdict-partly = Étayée en partie.
web-run-verdict-not-supported = Non étayée.
web-run-verdict-contradicted = Contredite.
web-run-verdict-words = Absent des citations : « { $words } ».
web-run-verdict-marked = Elle est signalée dans la réponse.
web-run-verdict-left-out = Elle a été retirée.
web-run-verdict-restated = La réponse dit maintenant :
web-run-check-missing = Non trouvé : { $what }
web-run-graph = Sous-questions
web-run-steps = Chronologie
web-run-step = Étape
web-run-seconds = Durée
web-run-tokens = Jetons et prix
web-run-paused = Rien ne s’est passé pendant { $seconds } entre-temps. Le graphique raccourcit cette durée.
web-run-waited = a attendu { $seconds } : { $lines }
web-run-attempt = tentative { $number }
web-run-thinking = Son raisonnement
web-run-search-summary =
    { $hits ->
        [one] { $hits } résultat
       *[other] { $hits } résultats
    }, { $read } lus · { NUMBER($seconds, maximumFractionDigits: 2) } s
web-run-for = pour : { $line }
web-run-hit-read = lu
web-run-hit-failed = illisible
web-run-hit-left = non lu
web-run-hits-left =
    { $count ->
        [one] Un résultat non lu
       *[other] { $count } résultats non lus
    }
web-run-pages = Pages
web-run-read-at = lu
web-run-whole-page = le texte entier, { $count } caractères
web-run-not-quoted = Rien n’en est cité.
web-run-gap = { $count } caractères omis
web-run-revisions = Du brouillon à la révision
web-run-revisions-hint = Chaque partie est rédigée de mémoire, puis corrigée d’après les pages lues pour elle. En rouge, ce qui a été retiré ; en vert, ce qui a été ajouté.
web-run-fate-revised = révisé
web-run-fate-unsourced = laissé de côté
web-run-fate-deleted = laissé de côté
web-run-queries = Recherché pour cela :
web-run-draft = Brouillon
web-run-revision = Révision
web-run-back = Comment cette réponse a été obtenue
web-original = Ouvrir l’original
web-original-gone = Le fichier n’est plus là.
web-run-page-hint =
    { $count ->
        [0] Voici la page telle qu’elle a été lue. Rien n’en est cité.
        [one] Voici la page telle qu’elle a été lue. Ce qui en est cité est surligné.
       *[other] Voici la page telle qu’elle a été lue. Ce qui en est cité est surligné, à { $count } endroits.
    }
web-history-today = Aujourd’hui
web-history-yesterday = Hier
web-history-pinned = Épinglées
web-history-older = Conversations plus anciennes
web-history-all = Toutes les conversations
web-history-find = Chercher une conversation
web-history-search = Chercher
web-history-questions =
    { $count ->
        [one] { $count } question
       *[other] { $count } questions
    }
web-history-found =
    { $count ->
        [0] Aucune conversation ne contient les mots « { $words } ».
        [one] Une conversation contient les mots « { $words } ».
       *[other] { $count } conversations contiennent les mots « { $words } ».
    }
web-history-manage = Gérer { $name }
web-history-select = Sélectionner { $name }
web-history-select-all = Tout sélectionner sur cette page
web-history-delete-chosen = Supprimer la sélection
web-history-delete-several =
    { $count ->
        [one] Supprimer une conversation ?
       *[other] Supprimer { $count } conversations ?
    }
web-history-delete-several-why = Leurs questions, réponses et fichiers sont supprimés définitivement, et leurs liens ne fonctionnent plus.
web-history-name = Nom de la conversation
web-history-rename = Renommer
web-history-pin = Épingler en haut de la liste
web-history-unpin = Ne plus épingler
web-history-delete = Supprimer la conversation
web-history-delete-sure = Supprimer définitivement
web-history-more = Plus d’actions sur cette conversation
web-did-rename = Renommée.
web-did-pin = Épinglée en haut de la liste.
web-did-unpin = N’est plus épinglée.
web-did-share = Le lien est prêt à être copié.
web-did-unshare = Le lien ne fonctionne plus.
web-share = Partager
web-share-why = Les personnes qui peuvent utiliser cette console et lire toutes les sources de cette conversation peuvent ouvrir le lien.
web-share-begin = Créer un lien
web-share-end = Révoquer le lien
web-share-copy = Copier le lien
web-share-copied = Lien copié.
web-share-is = Partagée
web-share-read-only = Cette conversation est partagée. Vous pouvez la lire, mais pas la modifier.
web-share-out-of-reach = Cette conversation ne peut pas être affichée : elle utilise des documents que vous ne pouvez pas lire.
web-export = Exporter
web-export-pdf = Imprimer ou PDF
web-export-html = Fichier HTML
web-export-md = Markdown
web-export-bib = Sources en BibTeX
web-export-csl = Sources en CSL-JSON
web-export-made = Exporté le
feedback-why = Qu’est-ce qui ne va pas ?
feedback-wrong = Faux
feedback-incomplete = Incomplet
feedback-bad-source = Mauvaise source
feedback-outdated = Périmé
feedback-words = Avec vos mots (facultatif)
feedback-send = Envoyer
web-overview-sum =
    { $days ->
        [1] Aujourd’hui
       *[other] Ces { $days } derniers jours
    } : { $questions ->
        [one] { $questions } question
       *[other] { $questions } questions
    } de { $people ->
        [one] { $people } personne
       *[other] { $people } personnes
    }, { $unanswered ->
        [0] aucune
       *[other] { $unanswered }
    } sans réponse{ $cost ->
        [0] { "" }
       *[other] , { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }.
web-overview-pace =
    La moitié des réponses est arrivée en { $median } ou moins{ $cost ->
        [0] { "" }
       *[other] { " ; une réponse a coûté en moyenne " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }.
web-overview-judged = Avis des lecteurs : { $good } utiles, { $bad } pas utiles.
web-overview-now = En ce moment : { $running } en cours, { $waiting } en attente.
web-overview-answered = Répondues
web-overview-unanswered = Sans réponse
web-overview-times =
    { $count ->
        [one] posée une fois
       *[other] posée { $count } fois
    }
web-overview-unanswered-why = Les sources n’en disent rien, ou seulement une partie.
web-overview-add-search = Comment connecter une source
web-overview-more-unanswered = Toutes les questions sans réponse
web-overview-complaints = Ce que les lecteurs ont signalé
web-overview-no-complaints = Aucun lecteur n’a jugé une réponse pas utile.
web-overview-more-feedback = Tous les avis
web-overview-by-channel = Où les questions sont posées
web-overview-by-collection = Ce que citent les réponses
web-overview-collection = Collection
web-overview-answers-quote = Réponses
web-overview-documents-quoted = Documents
web-overview-no-collection = dans aucune collection
web-unanswered = Questions sans réponse
web-unanswered-why = Ce qui a été demandé et que les sources ne disent pas, ou seulement en partie. Ajoutez des documents ou connectez une source qui y répond. Les questions aux mêmes mots sont comptées ensemble.
web-unanswered-csv = Télécharger en CSV
web-unanswered-times = Nombre de fois
web-unanswered-none = Toutes les questions de cette période et de ce lieu ont reçu une réponse.
web-feedback = Avis
web-feedback-why = Ce que les lecteurs pensent des réponses. Chaque question mène à la façon dont la réponse a été obtenue.
web-feedback-verdict = Verdict
web-feedback-words = Avec leurs mots
web-feedback-at = Donné
web-feedback-none = Pas encore d’avis pour cette période et ce lieu. Les lecteurs les donnent avec les boutons sous une réponse.
web-overview-filter = Filtre
web-overview-period = Période
web-overview-days =
    { $count ->
        [1] Aujourd’hui
       *[other] { $count } jours
    }
web-overview-platform = Plateforme
web-overview-workspace = Espace de travail
web-overview-channel = Canal
web-overview-all = Tous
web-overview-show = Afficher
web-overview-questions = Questions
web-overview-cost = Coût
web-overview-per-day = Questions par jour
web-overview-cost-per-day = Coût par jour
web-overview-as-table = Sous forme de tableau
web-overview-day = Jour
web-overview-providers = Services de recherche
web-overview-providers-hint =
    { $count ->
        [one] Dans la dernière recherche.
       *[other] Dans les { $count } dernières recherches.
    }
web-overview-provider = Service
web-overview-found = Recherches avec résultats
web-overview-failed = Recherches échouées
web-overview-last-failure = Dernier échec
web-overview-latest = Dernières questions
web-overview-question = Question
web-overview-state = Résultat
web-overview-asked = Posée
web-overview-nothing = Aucune question pour cette période et ce lieu.
web-overview-everything = Afficher les 90 derniers jours, tous les lieux
web-overview-new = Pas encore de questions. Dès que des personnes en posent dans une messagerie connectée ou dans cette console, vous voyez ici ce qu’elles ont demandé, ce qui est resté sans réponse et ce que cela a coûté.
web-overview-ask = Poser la première question
web-overview-csv = Télécharger les jours en CSV
web-overview-json = Tous les chiffres en JSON

### The documents that are searched, for operators

sources = Sources
sources-none = Pas encore de documents. Importez des fichiers, ajoutez un dossier, ou indiquez des dossiers dans FOOTNOTE_DOCS.
sources-unindexed = Aucun document n’est encore indexé : lancez d’abord `footnote index DOSSIER`.
sources-path-gone = Il n’y a ni fichier ni dossier { $path } : corrigez --docs ou FOOTNOTE_DOCS.
sources-sum =
    { $found ->
        [0] Aucun fichier trouvé.
        [one] { $documents } fichier sur { $found } est consulté.
       *[other]
            { $documents ->
                [one] { $documents } fichier sur { $found } est consulté.
               *[other] { $documents } fichiers sur { $found } sont consultés.
            }
    }
sources-starts = { -brand } démarre avec les nouveaux documents. Cela prend quelques secondes.
sources-folders = Dossiers
sources-index = Réindexer maintenant
sources-index-one = Réindexer ce dossier
sources-index-why = Seuls les fichiers nouveaux, modifiés ou illisibles sont lus.
sources-indexing = Indexation…
sources-looked = Dernière vérification :
sources-next = Prochaine vérification :
sources-changed = Dernier fichier lu :
sources-number = { $count }
sources-document = Consultés
sources-stale = Consultés dans une version antérieure
sources-copy = Même texte qu’un autre
sources-empty = Vides
sources-large = Trop volumineux
sources-unreadable = Illisibles
sources-kind = Type non pris en charge
sources-hidden = Masqués
sources-other = Liens, et fichiers sans droit de lecture
sources-folder = Dossiers laissés de côté
sources-readers = Qui peut les lire
sources-documents = Documents
sources-everybody = toutes les personnes qui peuvent poser des questions
sources-channels = canaux { $ids }
sources-people = personnes { $ids }
sources-slack-groups = groupes d’utilisateurs Slack { $ids }
sources-discord-roles = rôles Discord { $ids }
sources-console-users = dans la console { $ids }
sources-console-groups = groupes de la console { $ids }
sources-others = Également consultés
sources-server = { $name }, un serveur du Model Context Protocol : { $readers }
sources-chat = { $name } : conversations, pour les questions posées là
sources-find = Chercher dans l’index
sources-all = Ce que l’index trouve dans tous les documents, les meilleurs résultats d’abord.
sources-hidden-from = Ce que l’index trouve, les meilleurs résultats d’abord, sans les documents que vous ne pouvez pas lire : { $names }.
sources-found =
    { $count ->
        [0] Rien trouvé.
        [one] Un passage.
       *[other] { $count } passages.
    }
sources-open = Ouvrir à cet endroit
sources-read = Lu
sources-same = même texte que { $path }
sources-no-ending = sans extension
sources-list-end = Il n’y a pas d’autres fichiers ici.
sources-back = Précédent
sources-more = Suivant
sources-gone = Ce fichier ou dossier ne fait plus partie des documents.
sources-is-set = Réglé hors de la console, dans { $name }.
sources-is-added = Ajouté ici.
sources-uploads = Fichiers importés
sources-manage = Les afficher ou les retirer
sources-add = Ajouter des documents
sources-add-why = Toutes les personnes qui peuvent poser des questions peuvent lire ce qui est ajouté ici, sauf si une collection limite ses lecteurs.
sources-shut = Il n’est pas possible d’ajouter ou de retirer des documents ici : définissez { $name } pour l’autoriser aux exploitants.
sources-upload = Importer des fichiers
sources-upload-why = Texte, Markdown, HTML, PDF, Word, PowerPoint, Excel et autres, jusqu’à { $limit } Mo chacun et dix à la fois.
sources-upload-now = Importer
sources-replace = Remplacer les fichiers de même nom
sources-no-file = Choisissez au moins un fichier.
sources-not-read = Le fichier { $name } est d’un type qui n’est pas lu. Sont lus : texte, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB et CSV.
sources-exists = Il existe déjà un fichier { $name }. Cochez « Remplacer les fichiers de même nom » pour le remplacer.
sources-not-stored = Le fichier { $name } n’a pas pu être enregistré : { $why }.
sources-add-folder = Ajouter un dossier de ce serveur
sources-add-look = Examiner le dossier
sources-add-found = { $path } contient { $found } fichiers, dont { $documents } lisibles. Toutes les personnes qui peuvent poser des questions pourront les lire.
sources-add-sure = Ajouter le dossier
sources-add-not = Annuler
sources-no-folder = « { $path } » n’est pas un dossier que { -brand } peut lire. Indiquez son chemin complet sur ce serveur.
sources-own-folder = « { $path } » contient le dossier où { -brand } garde ses propres données, ou s’y trouve. Indiquez-en un autre.
sources-followed = « { $path } » est déjà consulté.
sources-drop = Retirer le dossier
sources-drop-why = Ses fichiers restent où ils sont. Ils ne sont plus consultés.
sources-drop-sure = Retirer

# Connecting chats and models in the console, and its page of the status.
connect = Connecter { $name }
connect-slack-app = Créez l’application. Le lien apporte tous ses réglages : choisissez votre espace de travail, puis « Next » et « Create ».
connect-slack-open = Créer l’application chez Slack
connect-slack-bot = Choisissez « Install App », installez-la dans votre espace de travail, et copiez le « Bot User OAuth Token ».
connect-slack-bot-field = Bot User OAuth Token (xoxb-…)
connect-slack-socket = Sous « Basic Information », « App-Level Tokens », choisissez « Generate Token and Scopes ». Ajoutez connections:write, générez le jeton, et copiez-le.
connect-slack-socket-field = Jeton d’application (xapp-…)
connect-slack-connected = Invitez-le dans un canal avec /invite { $name } et mentionnez-le.
connect-discord-app = Choisissez « New Application ». Sous « Bot », choisissez « Reset Token » et copiez le jeton.
connect-discord-open = Ouvrir vos applications chez Discord
connect-discord-intent = Sur la même page, activez « Message Content Intent ».
connect-discord-enter = Saisissez le jeton.
connect-discord-field = Jeton du bot
connect-discord-connected = Ajoutez-le à votre serveur avec le lien ci-dessus. Posez ensuite vos questions avec /ask, ou mentionnez-le.
connect-claude-key = Créez une clé d’API chez Anthropic, et copiez-la.
connect-claude-open = Ouvrir la page de vos clés
connect-claude-enter = Saisissez la clé.
connect-claude-field = Clé d’API (sk-ant-…)
connect-claude-connected = Claude cherche, lit et rédige désormais les réponses.
connect-copy = Ou copier les réglages de l’application (son manifeste)
connect-entered = Déjà saisi. Laissez vide pour l’utiliser.
connect-missing = Ce champ est à remplir.
connect-test = Tester et connecter
connect-lines = Afficher seulement les lignes pour .env
connect-lines-shown = Cela fonctionne. Placez ces lignes dans .env là où { -brand } s’exécute, et redémarrez-le. Elles ne sont affichées qu’une fois et ne sont conservées nulle part.
connect-starting = { -brand } démarre avec les nouveaux réglages…
connect-connecting = Connexion à { $name }…
connect-checking = Vérification…
connect-given = { $name } est configuré hors de la console ({ $names }) : modifiez-le là-bas.
connect-off = Rien ne peut être saisi ici, car d’autres personnes peuvent accéder à cette console. Définissez { $names } là où { -brand } s’exécute, ou autorisez-le avec FOOTNOTE_CONSOLE_SETUP=on.
connect-kept-why = Ce que vous saisissez est conservé chiffré là où { -brand } s’exécute.
connect-drop = Déconnecter
connect-drop-why = { -brand } n’utilise plus { $name } et supprime ce qui a été saisi ici.
status = État
status-again = Vérifier à nouveau
status-checked = Vérifié
status-connected = Connecté
status-works = Fonctionne
status-problem = Problème
status-note = Remarque
status-off = Non configuré
status-checking = Vérification en cours

## Why a file is not read; the kinds of files

unread-folder = Le dossier ne s’ouvre pas ({ $why }).
unread-shut = Le fichier ne s’ouvre pas ({ $why }).
unread-cannot = Le fichier ne peut pas être lu ({ $why }).
unread-not-regular = Ce n’est pas un fichier ordinaire.
unread-exchanged = Le fichier a été remplacé par un lien pendant la lecture du dossier.
unread-link-nowhere = Ce lien ne mène nulle part.
unread-link-out = Ce lien mène hors des dossiers indexés.
unread-no-text = Il ne contient pas de texte.
unread-too-large = Il fait { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB et la limite pour { $kind } est de { NUMBER($most, maximumFractionDigits: 6) } MB : divisez-le en fichiers plus petits.
unread-too-large-pictures = Il fait { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB et la limite pour { $kind } est de { NUMBER($most, maximumFractionDigits: 6) } MB : divisez-le en fichiers plus petits, ou enregistrez-le avec des images plus petites.
unread-slow = Sa lecture prend plus de { $seconds } s : divisez-le ou convertissez-le en texte.
unread-memory = Sa lecture demande plus de { $most } de mémoire : divisez-le en fichiers plus petits.
unread-broke = Le programme de lecture a échoué sur ce fichier : enregistrez-le de nouveau ou convertissez-le en texte.
unread-kept = Son texte du { $date } est conservé jusqu’à ce qu’il soit lisible.
unread-empty = { $name } est vide ; il n’y a rien à y lire.
unread-kind = { -brand } ne lit pas { $name } ({ $what }) ; enregistrez-le au format PDF, .docx, HTML ou texte, ou collez le texte.
unread-image = { -brand } ne lit pas { $name } ({ $what }) ; enregistrez-le au format PNG, JPEG, WebP ou GIF, et envoyez-le avec une question.
unread-old = { $name } est d’un ancien format ({ $what }) ; ouvrez-le et enregistrez-le au format { $ending }, que { -brand } lit.
unread-locked = { $name } est protégé par un mot de passe ; enregistrez une copie sans mot de passe, ou collez son texte.
unread-beginning = { $name } est endommagé : il ne commence pas comme un fichier { $kind } ; donnez-en une autre copie.
unread-man = { $name } a l’extension d’une page de manuel, mais n’en est pas une ; donnez-lui l’extension .txt pour qu’il soit lu comme texte.
unread-broken = { $name } est endommagé ({ $what }) ; ouvrez-le et enregistrez-le de nouveau, ou donnez-en une autre copie.
unread-entities = { $name } déclare ses propres entités, ce qu’aucun logiciel Office ne fait ; ouvrez-le et enregistrez-le de nouveau, ou collez son texte.
unread-unpacked = { $name } dépasse, une fois décompressé, ce que { -brand } lit ({ NUMBER($size, maximumFractionDigits: 0) } MB en tout) ; divisez-le en documents plus petits, ou collez la partie utile.
unread-part = { $name } dépasse, une fois décompressé, ce que { -brand } lit ({ NUMBER($size, maximumFractionDigits: 0) } MB dans une seule partie) ; divisez-le en documents plus petits, ou collez la partie utile.
unread-paragraph = { $name } contient un paragraphe ou une ligne de plus de { $most } MB, ce qu’aucun document ne fait ; collez le texte utile.
unread-entries = { $name } contient plus de { $most } fichiers, ce qu’aucun document ne fait ; donnez le document lui-même.
unread-gzip-large = { $name } dépasse { $most } une fois décompressé ; divisez-le en fichiers plus petits.
unread-gzip-broken = { $name } est un fichier gzip endommagé ; compressez-le de nouveau, ou donnez le fichier qu’il contient.
unread-pdf-pictures = { $name } est un PDF fait d’images sans texte ; donnez une version passée par la reconnaissance de texte (OCR), ou collez son texte.
unread-pdf-broken = { $name } est un PDF endommagé ; donnez-en une autre copie, ou collez son texte.
unread-pdf-locked = { $name } est un PDF protégé par un mot de passe ; donnez une version sans mot de passe, ou collez son texte.
unread-epub = { $name } est un livre EPUB protégé contre la copie ; donnez-en un sans protection, ou collez le texte utile.
unread-notebook = { $name } est un notebook Jupyter endommagé ; ouvrez-le et enregistrez-le de nouveau, ou exportez-le en HTML.
unread-outlook = { $name } est un message Outlook endommagé ; enregistrez-le de nouveau, ou au format .eml.
unread-code = { $name } est du code compressé ; donnez le code dont il provient.
unread-pandoc = pandoc n’a pas pu lire { $name } ; enregistrez-le au format PDF, .docx, HTML ou texte.
unread-no-pandoc = La lecture de { $name } demande pandoc : installez-le, ou lancez pip install 'footnote-bot[pandoc]'.
unread-crashed = { $name } n’a pas pu être lu : son lecteur s’est arrêté, ou il lui fallait plus de { $most } de mémoire ; collez son texte.
unread-hungry = { $name } demande plus de { $most } de mémoire pour être lu ; divisez-le, ou collez la partie qui compte.
unread-made-slow = { $name } est fait de telle façon que sa lecture prend trop de temps ; collez son texte.
unread-scripted = { $name } ne contient aucun texte lisible sans navigateur ; collez le texte.
unread-unsearchable = { $name } est trop long, ou fait de telle façon qu’y chercher des passages prend trop de temps ; collez la partie qui compte.
gate-login = { $name } ne montre qu’un formulaire de connexion ; collez le texte, ou donnez une page publique.
gate-check = { $name } n’admet que les navigateurs et montre une vérification à la place ; collez le texte.
gate-script = { $name } n’admet que les navigateurs : son texte s’affiche par JavaScript ; collez-le.
gate-missing = { $name } n’existe pas : son site y montre une page d’erreur ; vérifiez l’adresse.
gate-sale = { $name } n’existe plus : son adresse est à vendre ; cherchez-en une autre.
gate-preview = { $name } ne montre qu’un aperçu à qui n’a pas payé ; collez le texte, ou donnez une page gratuite.
gate-cookies = { $name } ne montre qu’une question sur les cookies ; collez le texte.
file-lost = Le fichier { $name } n’est plus là : joignez-le de nouveau.
disk-unmounted = Le disque de { $path } n’est pas monté ; ce qui en a été indexé reste.
what-image = image
what-media = image, son ou vidéo
what-sound-video = son ou vidéo
what-audio = fichier son
what-video = vidéo
what-font = police de caractères
what-archive = archive
what-program = programme
what-database = base de données
what-binary = fichier binaire
what-xml = document XML
what-type = type { $type }
what-gzip = compressé plusieurs fois avec gzip
what-xlsb = classeur Excel binaire (.xlsb)
what-iwork = document de Pages, Numbers ou Keynote d’Apple
what-doc = ancien document Word (.doc)
what-xls = ancien classeur Excel (.xls)
what-ppt = ancienne présentation PowerPoint (.ppt)
what-office = ancien document Office
what-zip = fichier ZIP, comme les documents Office
what-document = document
what-word = document Word
what-sheets = classeur Excel
what-slides = présentation PowerPoint
what-opendocument = fichier OpenDocument
what-epub = livre EPUB
format-text = texte brut
format-man = pages de manuel
format-notebook = notebooks Jupyter
format-mail = e-mails
format-outlook = messages Outlook
format-subtitles = transcriptions
format-settings = fichiers de configuration
format-log = journaux
format-code = code source
format-gzipped = { $kind } (gzip)

## Said in several places

sentences = { $first } { $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] octets
    [1] ko
    [2] Mo
   *[3] Go
}
listed = { $first }, { $next }
storage-sqlite = SQLite dans { $path }
storage-postgres = PostgreSQL sur { $host } (base de données { $name })

# The names of the parts that are checked
part-kept = Réglé dans la console
part-storage = Stockage
part-uploads = Fichiers importés
part-documents = Documents
part-changes = Modifications
part-extras = Extras
part-rights = Droits
part-network = Réseau
part-meaning = Recherche par le sens
part-search =
    Recherche ({ $name ->
        [local] documents
       *[other] { $name }
    })
part-reader = Service de lecture
part-browser = Navigateur
part-model = Modèle
part-budget = Budget
part-console = Console

# What the checks find
check-slow = Aucune réponse en { $seconds } secondes. Vérifiez le réseau et réessayez.
check-broke = Cela a échoué de façon inattendue ({ $error }). Le journal contient les détails.
check-storage = { $place } fonctionne.
check-storage-open = D’autres utilisateurs de cette machine peuvent lire { $names } dans { $folder }. `chmod -R go= { $folder }` les en empêche.
check-storage-full = Il ne reste que { $free } d’espace disque : libérez-en.
check-uploads =
    { $count ->
        [0] Aucun fichier importé n’est conservé.
        [one] Un fichier importé est conservé, de { $size }.
       *[other] { $count } fichiers importés sont conservés, { $size } en tout.
    }
check-uploads-today = Aujourd’hui, { $sent } ont été importés, au plus { $most } par une même personne.
check-uploads-limit = Chaque personne peut importer { $limit } par jour.
check-budget =
    { $usd ->
        [0] Rien n’a été dépensé aujourd’hui.
       *[other] { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD ont été dépensés aujourd’hui.
    }
check-budget-limits = Au plus { $limits }.
check-budget-question = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD par question
check-budget-person = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD par jour et par personne
check-budget-channel = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD par jour et par canal
check-budget-workspace = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD par jour et par espace de travail
check-documents-missing = Il n’y a rien à l’emplacement { $paths }. Corrigez FOOTNOTE_DOCS ou créez-le.
check-documents-none = Rien n’est encore indexé. Ajoutez des documents sur la page « Sources », ou lancez `footnote index DOSSIER`.
check-documents =
    { $count ->
        [0] Aucun document n’est indexé
        [one] Un document est indexé
       *[other] { $count } documents sont indexés
    } dans { $path }.
check-documents-unread =
    { $count ->
        [one] Un des { $files } fichiers est d’un type qui n’est pas lu
       *[other] { $count } des { $files } fichiers sont de types qui ne sont pas lus
    } ({ $kinds }).
check-documents-lost =
    { $count ->
        [one] Moins de 90 % des mots d’un fichier ont pu être lus
       *[other] Moins de 90 % des mots de { $count } fichiers ont pu être lus
    } : { $names }.
check-documents-stale =
    { $count ->
        [one] Un fichier est illisible pour le moment ; la recherche porte toujours sur son ancien texte
       *[other] { $count } fichiers sont illisibles pour le moment ; la recherche porte toujours sur leur ancien texte
    } : { $names }.
check-changes-none = Aucun dossier n’est suivi. FOOTNOTE_DOCS indique les dossiers à suivre.
check-changes-start = `footnote serve` ne cherche les modifications qu’au démarrage, car FOOTNOTE_DOCS_POLL vaut 0.
check-changes =
    `footnote serve` cherche les modifications { $seconds ->
        [one] chaque seconde
       *[other] toutes les { $seconds } secondes
    }, moins souvent dans les grands dossiers.
check-changes-never = Il ne l’a pas encore fait.
check-changes-last = La dernière fois, c’était à { $at } UTC.
extra-needed = { $use } nécessite l’extra « { $extra } » : { $install }.
extra-browser = pages web construites par des scripts
extra-discord = Discord
extra-mcp = le Model Context Protocol
extra-office = classeurs Excel, messages Outlook
extra-openai = modèles par l’API d’OpenAI
extra-otel = traces pour OpenTelemetry
extra-pandoc = RTF, LaTeX, DocBook, MediaWiki, Textile
extra-postgres = PostgreSQL et sa file d’attente
extra-slack = Slack
extra-sso = authentification unique pour la console
extra-vectors = recherche de documents par le sens
check-extras-all = Tous sont installés.
check-extras-one = { $extra } ({ $use })
check-extras = Non installés : { $extras }. `{ $install }` les ajoute ; ne nommez que ceux qu’il vous faut.
check-rights-none = Toute personne autorisée à poser des questions peut chercher dans tous les documents. Pour limiter cela, déclarez [[collections]] dans footnote.toml.
check-rights = « { $name } » ({ $count }) : { $who }.
check-rights-others = Tous les autres documents ({ $count }) : toute personne autorisée à poser des questions.
check-rights-unindexed = pas encore indexés
check-rights-ever = Sans FOOTNOTE_DOCS, la recherche porte sur tout ce qui a été indexé un jour.
check-network = Le proxy { $proxy } répond.
check-network-authorities = Les autorités de { $path } sont également approuvées.
check-network-none = Aucun proxy n’est défini.
check-network-pages = Les pages sont lues par { $proxy } ({ $target }).
check-network-names = Cette machine ne peut pas résoudre les noms d’internet. FOOTNOTE_FETCH_PROXY_TARGET=unresolved laisse cela au proxy.
check-network-direct = Les pages sont lues sans proxy.
check-network-bypass = Joints sans proxy : { $hosts }.
check-meaning-off = Les documents sont cherchés par les mots seulement. Pour les chercher aussi par le sens, définissez FOOTNOTE_EMBEDDINGS_URL.
check-meaning = { $model } répond par des vecteurs de { $count } nombres.
check-meaning-vectors =
    { $count ->
        [0] Rien n’est encore indexé.
       *[other] { $having } des { $count } passages ont un vecteur.
    }
check-meaning-missing = `footnote index` crée ceux qui manquent.
check-search = Une recherche d’essai a fonctionné.
check-search-price = Une recherche coûte { NUMBER($usd, minimumFractionDigits: 2) } USD et les jetons d’un appel à { $model }.
check-search-quota = Il reste { $left } des { $most } requêtes de ce mois.
check-search-unlimited = Le forfait n’a pas de limite mensuelle.
check-search-rate = Le forfait permet plus de requêtes par seconde qu’il n’en est fait : définissez FOOTNOTE_BRAVE_RATE={ $rate } pour les utiliser.
check-search-credits =
    { $left ->
        [one] Il reste { $left } crédit.
       *[other] Il reste { $left } crédits.
    }
check-search-used = { $used } des { $most } crédits sont utilisés.
check-search-found =
    Une recherche d’essai { $count ->
        [0] n’a rien trouvé.
        [one] a trouvé une page.
       *[other] a trouvé { $count } pages.
    }
check-search-silent = Moteurs qui n’ont pas répondu : { $names }.
check-mcp = La recherche se fait avec { $tools }.
check-mcp-read = Les pages sont lues avec { $tool }.
check-mcp-others =
    { $count ->
        [one] Un autre outil n’est jamais appelé.
       *[other] { $count } autres outils ne sont jamais appelés.
    }
check-reader-off = Aucun. Pour qu’un service lise les pages qui exigent un navigateur, définissez FOOTNOTE_READER_URL.
check-reader = { $name } répond : il a lu { $url } ({ $count } caractères).
check-browser-off = Aucun. Pour lire les pages construites par des scripts, définissez FOOTNOTE_BROWSER.
check-browser = Chromium { $version } démarre.
check-browser-open = Il s’exécute sans bac à sable : une page malveillante pourrait obtenir les droits de { -brand }.
check-model = { $name } répond.
check-model-none = Aucun : les réponses sont les passages les plus proches. Connectez Claude dans la console ou définissez ANTHROPIC_API_KEY, ou définissez FOOTNOTE_MODEL=openai:NOM pour un modèle d’OpenAI ou le vôtre.
check-platform-off = Non connecté. Connectez-le dans la console, ou définissez { $names }.
check-discord =
    { $name } { $count ->
        [0] n’est encore sur aucun serveur.
        [one] est sur un serveur.
       *[other] est sur { $count } serveurs.
    }
check-discord-invite = Ajoutez-le à un serveur sur { $url }.
check-discord-strangers = N’importe qui peut l’installer pour soi, et { $setting } lui permet de chercher dans les documents. Désactivez « User Install » sous « Installation », ou retirez ce réglage.
check-discord-endpoint = L’application envoie les commandes à une « Interactions Endpoint URL » : { -brand } ne les reçoit donc jamais. Videz ce champ sous « General Information », sur https://discord.com/developers/applications.
check-discord-intent = Discord ne montre pas à { -brand } les messages qui ne le mentionnent pas : il faut donc aussi le mentionner dans les questions suivantes. Activez « Message Content Intent » sous « Bot », « Privileged Gateway Intents », sur https://discord.com/developers/applications.
check-discord-token = Discord n’accepte pas DISCORD_TOKEN. Copiez de nouveau le jeton : « Bot », « Reset Token » sur https://discord.com/developers/applications.
check-discord-away = Discord est injoignable. Vérifiez le réseau et https://discordstatus.com, puis réessayez.
check-slack = @{ $bot } est dans { $team }.
check-slack-socket = Le Socket Mode fonctionne.
check-slack-http = Les événements qui arrivent à /slack/events sont vérifiés.
check-slack-unused = SLACK_CLIENT_ID n’est pas utilisé tant que SLACK_BOT_TOKEN est défini.
check-slack-searched =
    { $meaning ->
        [True] Les messages sont cherchés par le sens
       *[other] La recherche porte sur les messages
    } ({ $kinds }).
slack-public-channel = canaux publics
slack-private-channel = canaux privés
slack-mpim = messages de groupe
slack-im = messages directs
check-slack-unsearched = La recherche ne porte pas sur les messages, car il manque à l’application le scope { $scope }.
check-slack-unsearchable = La recherche dans les messages est impossible ({ $detail }).
check-slack-files = Elle porte aussi sur les fichiers.
check-slack-no-files = Elle ne porte pas sur les fichiers, car il manque à l’application le scope { $scope }.
check-slack-installed =
    { $count ->
        [0] Aucun espace de travail n’a encore installé l’application.
        [one] Un espace de travail a installé l’application : { $names }.
       *[other] { $count } espaces de travail ont installé l’application : { $names }.
    }
check-slack-install = Installez-la sur { $url } ; Slack ramène ensuite à { $back }.
check-slack-scopes =
    { $count ->
        [one] Il manque à l’application Slack le scope { $names }
       *[other] Il manque à l’application Slack les scopes { $names }
    }{ $team ->
        [none] {""}
       *[other] {" "}dans { $team }
    }. Ajoutez ce qui manque sous « OAuth & Permissions », sur https://api.slack.com/apps (ou collez adapters/slack/manifest.yaml sous « App Manifest »), puis réinstallez l’application.
check-slack-revoked = Slack n’accepte plus le jeton de { $team }. Réinstallez-y l’application : { $url }.
check-slack-token = Slack n’accepte pas { $setting } ({ $code }). Copiez-le de nouveau depuis la page de votre application sur https://api.slack.com/apps.
check-slack-secret = SLACK_SIGNING_SECRET n’est pas fait de 32 chiffres hexadécimaux. Copiez le « Signing Secret » depuis « Basic Information » de votre application sur https://api.slack.com/apps.
check-slack-kind = { $setting } ne commence pas par { $beginning } : c’est un autre type de jeton. Copiez le bon depuis « { $page } » de votre application sur https://api.slack.com/apps.
check-slack-away = Slack ne répond pas à { $url }. Vérifiez le réseau, ou FOOTNOTE_SLACK_API_URL.
check-slack-socket-scope = Il manque connections:write à SLACK_APP_TOKEN. Créez avec lui un nouveau jeton d’application sous « Basic Information » de votre application sur https://api.slack.com/apps.
check-slack-socket-off = Slack n’ouvre pas de connexion Socket Mode ({ $code }). Activez le Socket Mode de votre application sur https://api.slack.com/apps.
check-console = `footnote serve` l’ouvre sur { $place }.
check-console-shut = Mais personne ne peut y poser de questions.
check-console-list = { $setting } ne nomme pas la console : ajoutez { $id } à la liste.
check-console-without = Si vous ne voulez pas de console, définissez FOOTNOTE_CONSOLE=off.
check-console-off = Désactivée. Pour poser des questions dans un navigateur, retirez FOOTNOTE_CONSOLE.
check-console-closed = Fermée, car d’autres personnes peuvent y accéder. Pour l’ouvrir, définissez FOOTNOTE_CONSOLE_TOKEN ou FOOTNOTE_OIDC_ISSUER.
check-sso =
    { $issuer } connecte les personnes, avec { $count ->
        [one] une clé
       *[other] { $count } clés
    }. Enregistrez-y { $redirect } comme adresse de redirection.
check-sso-out = Enregistrez { $address } comme adresse après la déconnexion.
kept-folder-gone = Le dossier { $path } n’existe pas.
kept-given = { $name } est déjà défini hors de la console. Modifiez-le là-bas.
kept-key-gone = Les clés et les jetons saisis dans la console ne peuvent pas être déchiffrés : { $where } est introuvable, illisible ou contient une autre clé. Remettez la bonne en place, ou saisissez-les de nouveau.
kept-key-none = Les secrets ne sont conservés que chiffrés. Définissez FOOTNOTE_ENCRYPTION_KEYS avec une clé affichée par `footnote keys new`, et gardez-la à l’écart de la base de données.
kept-key-unreadable = { $path } est illisible ({ $why }).
kept-key-other = { $path } n’est pas la clé que { -brand } y a écrite.
kept-key-unwritten = Impossible d’écrire { $path } ({ $why }).

# What services answer
api-of = L’API de { $name }
wiki-at = Le wiki de { $host }
embeddings-endpoint = Le service d’embeddings
claude-search = La recherche web de Claude
search-late = Aucune réponse en { $seconds } s : réessayez plus tard.
search-rate = { $title } n’accepte plus de requêtes pour le moment : réessayez plus tard.
search-down = { $title } est en surcharge ou en panne (HTTP { $status }) : réessayez plus tard.
search-redirect = { $title } redirige ailleurs, ce qui n’est pas suivi : vérifiez { $place }.
search-refused = { $title } n’accepte pas la requête (HTTP { $status }).
search-access = { $title } refuse l’accès : autorisez-y cette machine, ou vérifiez { $place }.
search-key = { $title } n’accepte pas sa clé : corrigez { $key }.
search-quota = Le quota est épuisé ({ $title }) : relevez la limite du forfait, ou retirez le service de FOOTNOTE_PROVIDERS.
search-garbled = { $title } a donné une réponse illisible : vérifiez { $place }.
search-slow = { $title } ne répond pas à temps : réessayez plus tard.
search-away = { $title } est injoignable : vérifiez le réseau et { $place }.
service-other = { $host } répond, mais pas comme prévu ({ $service }) : vérifiez { $url }.
service-slow = { $model } a mis plus de { $seconds } secondes à répondre : réessayez, ou augmentez FOOTNOTE_MODEL_TIMEOUT.
service-away = { $host } est injoignable, ou la connexion a été coupée : vérifiez le réseau et réessayez.
service-garbled = { $host } a envoyé une réponse illisible : réessayez, ou vérifiez { $url }.
service-unpaid = Le compte de { $key } ne peut pas payer cette requête : { $words }
service-key = { $host } n’accepte pas { $key } : { $words }. Corrigez la clé ou ses droits.
service-unknown = { $host } ne connaît pas le modèle { $model } : indiquez dans { $setting } un modèle connu.
service-nothing = { $host } n’offre pas { $protocol } : corrigez { $url } ({ $form ->
    [without] sans /v1
   *[with] avec /v1
 }).
service-busy = { $host } est en surcharge et n’a pas répondu après { $count ->
    [one] une tentative
   *[other] { $count } tentatives
 } : réessayez plus tard.
service-trouble = { $host } a lui-même un problème et n’a pas répondu après { $count ->
    [one] une tentative
   *[other] { $count } tentatives
 } : réessayez plus tard.
service-refused = { $host } a refusé une requête à { $model } : { $words }
reading-service = Le service de lecture { $name }
wiki-none = Il n’y a pas d’API MediaWiki à { $url } : vérifiez { $place }.
wiki-login = { $title } ne peut être lu qu’après connexion.
wiki-refused = { $title } n’accepte pas la requête.
wiki-no-such = { $title } n’a pas cette page.
wiki-no-page = { $site } n’a pas de page appelée « { $page } ».
wiki-no-article = { $url } n’est pas un article de { $site }.
wiki-empty = La page « { $page } » de { $site } n’a pas de texte.
proxy-unconnected = Le proxy { $proxy } ne se connecte pas à { $host } ({ $why }) : vérifiez-le, ainsi que HTTPS_PROXY, NO_PROXY et FOOTNOTE_CA_BUNDLE.
embeddings-quota = Le quota de la clé de { $key } est épuisé : augmentez-le.
embeddings-unknown = { $title } ne connaît pas l’adresse ou le modèle { $model } : vérifiez { $place } et FOOTNOTE_EMBEDDINGS_MODEL.
brave-rate = Brave n’accepte plus de requêtes dans cette seconde : réessayez plus tard, ou réglez FOOTNOTE_BRAVE_RATE sur ce que permet le forfait.
searxng-json = SearXNG ne donne pas de résultats en JSON : ajoutez json à search.formats dans son settings.yml et redémarrez-le.
searxng-silent = SearXNG n’a rien trouvé, et ces moteurs n’ont pas répondu : { $names }. Vérifiez leur état, ou réessayez plus tard.
service-toolless = { $model } ne sait pas appeler d’outils, ce que demande la recherche : mettez dans FOOTNOTE_MODEL un modèle qui le sait.
mcp-tool = Son outil { $tool } a échoué : { $words }
mcp-refused = Il a refusé : { $words }
mcp-odd = Il a envoyé un résultat qui n’a pas la forme qu’il déclare.
mcp-credentials = Il n’accepte pas nos identifiants (HTTP { $status }) : corrigez headers ou oauth dans [[mcp]].
mcp-broke = La connexion avec lui a été coupée : réessayez plus tard.
mcp-command = La commande { $command } ne démarre pas : corrigez-la dans [[mcp]].
mcp-away = Il est injoignable, ou ne parle pas le protocole.
mcp-no-search = Il n’a pas d’outil qui cherche : { $names }.
mcp-name-one = Nommez-en un dans `search` de [[mcp]].
browser-none = { $place } nomme { $name }, qui n’est pas un programme de cette machine : installez Chromium, ou corrigez le nom.
browser-sandbox = Chromium ne démarre pas ici avec son bac à sable : lancez { -brand } sans être root, là où les espaces de noms utilisateur sont permis, ou, dans un conteneur qui ne contient rien d’autre, mettez { $setting }=off.
browser-dead = Chromium ({ $name }) ne démarre pas : essayez-le à la main, ou corrigez { $place }.
sso-issuer = FOOTNOTE_OIDC_ISSUER est { $given }, mais le fournisseur s’appelle { $its } : mettez-y ce nom.
sso-lacks = Le document de découverte du fournisseur OpenID n’a pas de { $name } utilisable.
toml-invalid = { $path } n’est pas du TOML valide : { $why }. Corrigez-le.
toml-unusable = Les collections ou les serveurs de { $path } sont inutilisables. `footnote doctor` dit ce qui ne va pas.
rights-gone = { $path }, avec les collections, a disparu : remettez-le.
rights-twice = Les collections { $first } et { $second } ont toutes deux le chemin { $path } : laissez-le dans une seule.
rights-nowhere = La collection { $name } a le chemin { $path }, où il n’y a ni fichier ni dossier : corrigez-le.
rights-outside = La collection { $name } a le chemin { $path }, hors des documents où l’on cherche ({ $docs }) : corrigez-le, ou ajoutez-le à FOOTNOTE_DOCS.
