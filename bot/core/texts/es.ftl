# Los textos de Footnote en español. Identificadores y variables como en en.ftl; lo que falta aparece en inglés.

-brand = Footnote

## While it works

working = Investigando…
queued =
    { $ahead ->
        [0] En cola. La tuya es la siguiente.
        [one] En cola. Hay una pregunta antes que la tuya.
       *[other] En cola. Hay { $ahead } preguntas antes que la tuya.
    }
stopping = Deteniendo…
stopped = Detenido.
nothing-running = Aquí no hay nada en curso, así que no hay nada que detener.
stopping-count =
    { $count ->
        [one] Deteniendo la pregunta en curso…
       *[other] Deteniendo { $count } preguntas…
    }
edited-question = La pregunta se ha editado. Respondiendo de nuevo…

## Steps of the plan

step-rewrite = Entendiendo la pregunta
step-search = Buscando: { $title }
step-read = Leyendo: { $title }
step-think = Reflexionando
step-plan = Planificando la investigación
step-draft = Redactando el borrador
step-revise = Revisando
step-write = Escribiendo la respuesta
step-check = Comprobando las notas
step-other = { $title }
step-searches =
    { $count ->
        [one] 1 búsqueda
       *[other] { $count } búsquedas
    }
step-pages =
    { $count ->
        [one] 1 página
       *[other] { $count } páginas
    }
exhaustive-price =
    { $usd ->
        [-1] Hasta { $searches } búsquedas y { $minutes } minutos, precio desconocido. Puedes detenerla en cualquier momento y obtener lo encontrado.
       *[other] Hasta { $searches } búsquedas, { $minutes } minutos y unos { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD. Puedes detenerla en cualquier momento y obtener lo encontrado.
    }
exhaustive-round =
    { $facts ->
        [one] Tras { $searches } de { $most } búsquedas: 1 dato encontrado
       *[other] Tras { $searches } de { $most } búsquedas: { $facts } datos encontrados
    }
elapsed = { NUMBER($seconds, maximumFractionDigits: 0) } s transcurridos
more-steps =
    { $count ->
        [one] y un paso más
       *[other] y { $count } pasos más
    }

## Under the answer

sources-heading = Fuentes
more-sources =
    { $count ->
        [one] y una fuente más
       *[other] y { $count } fuentes más
    }
preview-edited = La pregunta se ha editado desde entonces. El enlace lleva a la nueva respuesta.
preview-sources =
    { $count ->
        [one] Una fuente
       *[other] { $count } fuentes
    }
text-given-by = texto de { $name }
answer-place-gone = Ya no puedo publicar allí la respuesta a «{ $question }»: el canal se archivó o me quitaron de él. Pregunta de nuevo aquí o en otro canal.
answer-refused = Slack no aceptó la respuesta a «{ $question }» ({ $code }). Pide una más corta o consulta a un administrador del espacio de trabajo.
unverified = ⚠ Sin verificar: «{ $sentence }» ({ $reason })
disagrees = ⚖ Las fuentes discrepan: «{ $sentence }», pero [{ $number }] dice «{ $quote }»
spent =
    { NUMBER($seconds, maximumFractionDigits: 1) } s · { $searches ->
        [one] 1 búsqueda
       *[other] { $searches } búsquedas
    } · { $pages ->
        [one] 1 página leída
       *[other] { $pages } páginas leídas
    }{ $cost ->
        [0] { "" }
       *[other] { " · " }{ NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }
summary = { $spent } · ejecución { $run }
details-button = Fuentes y proceso
partly-answered = ◐ Respondida en parte. No encontrado: { $what }
doubts-counted =
    { $count ->
        [one] ⚠ Una frase no está respaldada por sus fuentes
       *[other] ⚠ { $count } frases no están respaldadas por sus fuentes
    }
disagreements-counted =
    { $count ->
        [one] ⚖ Las fuentes discrepan en una frase
       *[other] ⚖ Las fuentes discrepan en { $count } frases
    }
notes-counted =
    { $count ->
        [one] ⓘ Una observación sobre la búsqueda
       *[other] ⓘ { $count } observaciones sobre la búsqueda
    }
searched-for = Búsquedas: { $queries }
follow-ups-heading = También podrías preguntar

## Buttons

stop-button = Detener
dig-deeper = Profundizar
feedback-good = Útil
feedback-bad = No es útil
feedback-thanks = Gracias. Tu opinión queda guardada con esta respuesta.
feedback-ask-why = Gracias. Tu opinión queda guardada con esta respuesta. ¿Qué está mal?
delete-answer = Eliminar esta respuesta
delete-answer-ask = La respuesta se quita de aquí, y tu pregunta y la respuesta se eliminan de lo guardado. No se puede deshacer.
delete-answer-yes = Eliminar
delete-answer-no = Cancelar
delete-answer-not-yours = Solo quien hizo la pregunta puede eliminar esta respuesta.

## When something is in the way

no-question = ¿Qué quieres saber? Escribe tu pregunta justo después de mencionarme o usa /ask.
question-too-long = Tu pregunta tiene { $length } caracteres y puedo leer { $most } como máximo. Acórtala o adjunta la parte larga como archivo.
files-question = ¿Qué dice { $names }?
failed = No pude terminar esta: { $reason }
retry-button = Reintentar
cannot-open-thread = No tengo permiso para abrir un hilo aquí, así que respondo en el canal. Quien gestiona este canal puede darme ese permiso.
cannot-read-history = No puedo leer los mensajes anteriores aquí, así que solo sé lo que se me preguntó directamente. Quien gestiona este canal puede darme ese permiso.
history-too-slow = No pude leer a tiempo los mensajes anteriores aquí, así que solo sé lo que se me preguntó directamente. Preguntar más tarde puede ayudar.
asked-by = { $name } preguntó: { $question }
question-of = Pregunta de { $name }
only-for-command = No soy miembro aquí, así que solo puedo responder a tu comando y solo durante 15 minutos. Quien gestiona este servidor puede invitarme.
answer-in-file = La respuesta es demasiado larga para un mensaje. El archivo tiene el texto completo.
answer-comes-directly = Esto tarda más que los 15 minutos que Discord me da para responder aquí a un comando. La respuesta te llegará por mensaje directo.
direct-closed = Esto tarda más que los 15 minutos que Discord me da para responder aquí a un comando, y no puedo enviarte mensajes directos. Permítelos y pregunta de nuevo.
only-for-minutes = No soy miembro donde preguntaste, así que Discord solo me dio 15 minutos para responder allí a tu comando. Tardé más, por eso la respuesta está aquí.
only-so-many-messages = No soy miembro donde preguntaste, así que Discord solo me deja publicar allí unos pocos mensajes por comando. Por eso la respuesta está aquí.
cannot-post = No tengo permiso para escribir en ese canal. Quien lo gestiona puede invitarme o darme ese permiso.
file-not-read = No pude leer el archivo { $name }: { $reason }
file-gone = No pude leer el archivo { $name }: se eliminó.
file-hidden = No pude leer el archivo { $name }: está oculto porque el espacio de trabajo supera los límites de su plan.
file-elsewhere = No pude leer el archivo { $name }: está guardado en otro servicio. Comparte el propio archivo.
file-not-shown = No pude leer el archivo { $name }: no lo veo aquí. Compártelo otra vez o pega su texto.
file-is-canvas = No pude leer { $name }: un lienzo o una lista no tiene archivo que descargar. Pega su texto o comparte una exportación.
link-not-read = No pude leer { $url }: { $reason }
more-elsewhere = Encontré más en lugares que solo tú puedes ver. Pregúntame por mensaje directo para que busque también ahí.
more-elsewhere-here = Para tu pregunta en { $channel } encontré más en canales que no todos allí pueden leer. Pregúntame aquí para que busque también en ellos.
documents-dated =
    { $after ->
        [none] hasta el { $before }
       *[other]
            { $before ->
                [none] desde el { $after }
               *[other] del { $after } al { $before }
            }
    }
documents-narrowed = Solo se buscó en: { $only }
documents-unmatched =
    Ningún documento coincide: { $only }.{ $names ->
        [none] {""}
       *[other] {" "}Nombres parecidos: { $names }.
    }
documents-widened = No se encontró nada en estos documentos: { $only }. Busqué en todos los documentos.
search-widened =
    { $freshness ->
        [day] No se encontró nada del último día
        [week] No se encontró nada de la última semana
        [month] No se encontró nada del último mes
        [year] No se encontró nada del último año
       *[any] No se encontró nada
    }{ $domains ->
        [any] {""}
       *[other] {" "}en { $domains }
    }, así que busqué sin ese límite.
links-left-out =
    { $count ->
        [one] No se leyó un enlace más, por el límite de una respuesta.
       *[other] No se leyeron { $count } enlaces más, por el límite de una respuesta.
    }
try-again = No se pudo guardar. Inténtalo de nuevo en un momento.
not-kept = No pude guardar tu pregunta. Hazla de nuevo en un minuto.
command-broke = Eso no funcionó. Inténtalo de nuevo en un minuto.
run-broke = Algo falló en la ejecución { $run }. Preguntar de nuevo puede ayudar. Si no, da el número de la ejecución a tu operador.
question-gone = Esta pregunta ya no existe. Hazla de nuevo.
suggestion-gone = Esta sugerencia ya no existe. Haz la pregunta en el hilo.
answer-out-of-reach = Esta respuesta no se puede mostrar porque usa documentos que no se pueden leer aquí.
words-out-of-reach = (no se muestra: procede de documentos que no se pueden leer aquí)
documents-out-of-reach = El acceso a los documentos cambió mientras { -brand } respondía. Pregunta de nuevo.
earlier-out-of-reach = Se omitieron respuestas anteriores de este hilo porque usan documentos en los que ya no se puede buscar aquí.
place-unknown = No puedo responder en este tipo de canal. Pregúntame en otro.
asked-already = Esta pregunta ya se hizo. Mira su respuesta o espérala.

## Who may ask

denied-workspace = { -brand } no está activado en este espacio de trabajo. Un administrador de { -brand } puede activarlo.
denied-channel = { -brand } no responde en este canal. Prueba en otro o pide a un administrador de { -brand } que lo permita aquí.
denied-user = No estás en la lista de personas que pueden preguntar a { -brand }. Un administrador de { -brand } puede añadirte.
denied-role = Necesitas otro rol para preguntar a { -brand }. Un administrador de { -brand } puede decirte cuál o permitir el tuyo.
denied-direct = { -brand } no acepta mensajes directos. Pregunta en un canal o pide a un administrador de { -brand } que los permita.
denied-console = No se permiten preguntas desde la consola. El operador de { -brand } puede permitirlas añadiendo { $id } a { $setting }.
denied-console-roles = { $setting } solo permite a personas con roles, y la consola no tiene roles. El operador de { -brand } puede nombrar personas en { $instead }.
denied-guest = { -brand } no responde aquí a invitados. Un administrador de { -brand } puede cambiarlo.
denied-unknown = { -brand } no pudo saber si eres invitado, y los invitados no pueden preguntar aquí. Pregunta de nuevo en un momento.
denied-day-user = Tu presupuesto de investigación de hoy está agotado. Podrás preguntar de nuevo a las 00:00 UTC, { $hours ->
        [one] en menos de una hora
       *[other] en menos de { $hours } horas
    }.
denied-day-channel = El presupuesto de investigación de hoy de este canal está agotado. Podrás preguntar aquí de nuevo a las 00:00 UTC, { $hours ->
        [one] en menos de una hora
       *[other] en menos de { $hours } horas
    }.
denied-day-workspace = El presupuesto de investigación de hoy de este espacio de trabajo está agotado. Podrás preguntar de nuevo a las 00:00 UTC, { $hours ->
        [one] en menos de una hora
       *[other] en menos de { $hours } horas
    }.
denied-day-uploads = Cada persona puede enviar { $limit } MB de archivos al día, y estos serían más. Podrás enviar archivos de nuevo a las 00:00 UTC, { $hours ->
        [one] en menos de una hora
       *[other] en menos de { $hours } horas
    }.
denied-day-questions = { $limit ->
        [one] Ya has hecho tu pregunta de hoy.
       *[other] Ya has hecho tus { $limit } preguntas de hoy.
    } Podrás preguntar de nuevo a las 00:00 UTC, { $hours ->
        [one] en menos de una hora
       *[other] en menos de { $hours } horas
    }.

## Rules of a channel

rules-title = Cómo responde { -brand } en este canal
rules-line = { $key }: { $value }
rules-none = Este canal no tiene reglas propias; se aplican los ajustes generales.
rules-set = Listo. En este canal, { $key } ahora es: { $value }
rules-reset = Listo. En este canal vuelven a aplicarse los ajustes generales.
rules-unknown = No hay ninguna regla llamada «{ $key }». Puedes ajustar: { $known }
rules-invalid = «{ $value }» no sirve para { $key }. Opciones: { $allowed }
rules-too-long = Es demasiado largo para { $key }: como máximo { $most } caracteres.
rules-not-admin = Solo un administrador de { -brand } puede cambiar cómo responde aquí.
rules-help = { $show } muestra las reglas de este canal, { $set } cambia una ({ $keys }), { $reset } vuelve a los ajustes generales.
searched-title = Dónde busca { -brand } aquí
searched-providers = Buscadores: { $names }
searched-collection = Documentos «{ $name }»: { $why }
searched-why-everybody = para quienes pueden preguntar
searched-why-channels = este canal puede buscar en ellos
searched-why-people = puedes buscar en ellos
searched-why-slack-groups = un grupo de usuarios en el que estás puede buscar en ellos
searched-why-discord-roles = un rol que tienes puede buscar en ellos
searched-why-console-users = puedes buscar en ellos
searched-why-console-groups = un grupo en el que estás puede buscar en ellos
searched-others = Documentos sin colección: para quienes pueden preguntar
searched-all = Todos los documentos indexados: para quienes pueden preguntar
searched-not = { $count ->
    [one] Aquí no se busca en otra colección de documentos.
   *[other] Aquí no se busca en otras { $count } colecciones de documentos.
}
searched-guest = Ningún documento: no se busca en ellos para invitados ni donde puede leer gente de fuera.
searched-unusable = Ningún documento: el operador de { -brand } tiene que corregir las colecciones en los ajustes.

## Standing questions

watch-changed = Qué ha cambiado desde { $since }
watch-now = Ahora:
watch-before = Antes:
watch-over =
    He dejado de comprobar esta pregunta porque nadie la ha abierto ni respondido aquí durante { $days ->
        [one] un día
       *[other] { $days } días
    }: { $question }
watch-begun = La comprobaré { $schedule } y solo publicaré aquí si cambia la respuesta. Su ID es { $id }.
watch-pressed = En seguimiento: publico aquí si cambia la respuesta.
watch-pressed-daily = En seguimiento diario: te enterarás aquí si cambia la respuesta.
watch-pressed-weekly = En seguimiento semanal: te enterarás aquí si cambia la respuesta.
watch-badge =
    { $schedule ->
        [daily] Seguimiento diario
        [weekly] Seguimiento semanal
        [paused] Seguimiento en pausa
        [ended] Seguimiento terminado
       *[other] En seguimiento
    }
watch-daily = cada día
watch-weekly = cada semana
watch-cron = según el horario «{ $schedule }» (UTC)
watch-line = { $id }: { $question } ({ $schedule }; { $state })
watch-due = próxima comprobación: { $due }
watch-paused = en pausa
watch-ended = terminado
watch-looked = {", "}última comprobación: { $looked }, { $outcome }
watch-outcome-same = sin cambios
watch-outcome-changed = la respuesta cambió
watch-outcome-no-answer = no se encontró respuesta
watch-outcome-budget = el presupuesto del día estaba agotado
watch-outcome-refused = allí ya no se puede preguntar ni publicar
watch-none = Aún no sigues ninguna pregunta.
watch-unknown = No sigues ninguna pregunta con el ID { $id }.
watch-too-many =
    { $most ->
        [0] Aquí no se pueden seguir preguntas.
        [one] Ya sigues una pregunta, que es el máximo. Detenla primero.
       *[other] Ya sigues { $most } preguntas, que es el máximo. Detén una primero.
    }
watch-schedule-unknown = «{ $schedule }» no es un horario. Usa daily (diario), weekly (semanal) o una expresión cron de cinco campos, como "0 9 * * 1-5" (en UTC).
watch-schedule-too-often = «{ $schedule }» es demasiado frecuente. Deja al menos una hora entre dos comprobaciones.
watch-done-pause = En pausa: { $question }
watch-done-resume = Se vuelve a comprobar: { $question }
watch-done-stop = Ya no se comprueba: { $question }
watch-help = { $command } daily PREGUNTA sigue una pregunta (daily, weekly o una expresión cron entre comillas). { $command } muestra las tuyas. { $command } pause ID, resume ID y stop ID cambian una.
watch-button = Seguir
watch-description = Seguir una pregunta y saber cuándo cambia su respuesta; sin ella, ver las tuyas
watch-name = seguir
watch-question = La pregunta que quieres seguir; déjala vacía para ver las tuyas
watch-every = Cada cuánto comprobar: daily, weekly o una expresión cron en UTC
watch-id = El ID de una de tus preguntas, para cambiarla
watch-action = Qué hacer con ella
watch-pause = Pausar
watch-resume = Reanudar
watch-stop = Detener
watch-heading = Preguntas en seguimiento
watch-why = Repetir la última pregunta cada día y publicar aquí si cambia la respuesta.
watch-intro = Estas preguntas se repiten según un horario. Cuando cambia una respuesta, lo lees en su conversación. Para añadir una, elige «Seguir» en una conversación.
watch-manage = Cambiar «{ $question }»

correction-noted = Anotado: { $said }
correction-noted-on = Anotado sobre «{ $question }»: { $said }
correction-not-kept = No guardé esta corrección: la retiraste o ya has hecho { $most } en un día.
correction-guest = Footnote no guarda correcciones de invitados ni de canales compartidos con otra empresa.
correction-title = Corrección de { $name }, { $when }
correction-title-own = Tu corrección, { $when }
correction-of = Corrección de la respuesta a: { $question }
correction-remove = Quitar
correction-removed = Quitada. Las próximas respuestas no la usarán.
correction-unknown = No hay ninguna corrección con el ID { $id }.
correction-not-yours = Solo su autor o un administrador puede quitar una corrección.
correction-heading = Correcciones
correction-begin = Corregir
correction-say = ¿Qué es lo correcto? Las próximas preguntas lo encontrarán como fuente.
correction-intro = Lo que se señaló como erróneo en una respuesta. Las próximas respuestas lo usan como fuente.
correction-none = Aún no hay correcciones. Contesta a una respuesta diciendo qué está mal y la corrección aparecerá aquí.

## Being forgotten

forget-ask =
    Tengo guardados { $messages ->
        [one] un mensaje tuyo
       *[other] { $messages } mensajes tuyos
    } y { $answers ->
        [0] ninguna respuesta
        [one] una respuesta
       *[other] { $answers } respuestas
    } para ti, con lo que se encontró para ello. Puedo eliminarlo todo, en todos los canales. No se puede deshacer. Lo publicado aquí permanece hasta que alguien lo elimine. Para continuar: { $command }
forget-nothing = No tengo guardado nada de lo que escribiste.
forget-done =
    { $messages ->
        [0] Listo. No tengo guardado nada de lo que escribiste.
        [one] Listo. He eliminado un mensaje tuyo y lo que encontré para ti.
       *[other] Listo. He eliminado { $messages } mensajes tuyos y lo que encontré para ti.
    } Lo publicado en el chat permanece hasta que alguien lo elimine.
forget-help = { $command } elimina lo que tengo guardado de lo que escribiste.

## Home

home-title = Pregunta y recibe una respuesta que puedes comprobar
home-intro = { -brand } busca, lee las páginas y responde con una nota al pie para cada afirmación.
home-how = Cómo preguntar
home-how-mention = Mencióname con tu pregunta en cualquier canal en el que esté.
home-how-direct = Escríbeme directamente, sin mención.
home-how-follow-up = Responde en el hilo para seguir preguntando; recuerdo lo que se dijo allí.
home-how-command = Usa /ask en cualquier canal en el que esté.
home-how-shortcut = Elige «Investigar esto» en el menú de cualquier mensaje.
home-how-stop = Pulsa Detener o escribe «stop».
home-connected = Conectado
home-reasoner = Responde con: { $name }
home-providers = Busca con: { $names }
home-documents =
    { $count ->
        [one] Un documento local
       *[other] { $count } documentos locales
    }
home-usage = Este mes
home-questions =
    { $count ->
        [one] 1 pregunta
       *[other] { $count } preguntas
    }
home-answered =
    { $count ->
        [one] 1 respondida
       *[other] { $count } respondidas
    }
home-cost = { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD gastados

## Commands

ask-description = Investigar una pregunta y obtener una respuesta con notas al pie
ask-question = Qué quieres saber
ask-question-or-form = Qué quieres saber; déjalo vacío para un formulario con más espacio
ask-file = Un archivo para leer con la pregunta
ask-depth = Con qué profundidad investigar
depth-auto = Automático
depth-quick = Rápido: una búsqueda
depth-standard = Estándar: buscar y leer
depth-deep = Profundo: tarda más, lee más
depth-exhaustive = Exhaustivo: todo sobre algo, hasta 150 búsquedas
depth-tag-quick = Rápido
depth-tag-deep = Profundo
depth-tag-exhaustive = Exhaustivo
stop-description = Detener la investigación en curso aquí
rules-description = Ver o cambiar cómo responde Footnote en este canal
shortcut-name = Investigar esto
shortcut-check-name = Comprobar los datos
command-accepted = Me pongo con ello: { $question }
only-me-accepted = Respondo en un mensaje directo que solo tú puedes ver.
only-me-refused = No puedo enviarte mensajes directos, así que no puedo responderte solo a ti.
stop-name = detener
forget-name = olvídame
forget-description = Ver lo que está guardado de lo que escribiste y hacer que se elimine
forget-confirm = Elige sí para eliminarlo; no se puede deshacer
forget-yes = Sí, eliminar
ask-name = preguntar
rules-show-description = Ver cómo responde Footnote en este canal
rules-set-description = Cambiar un ajuste de las respuestas de Footnote en este canal
rules-reset-description = Volver a los ajustes generales en este canal
rules-key = Qué ajustar
rules-value = Su nuevo valor

## The pane beside the conversation

prompts-title = Por ejemplo
document-asked-about = ¿Cuáles son los puntos principales de «{ $title }»?
prompt-compare = Comparar dos cosas
prompt-compare-message = ¿Cómo se comparan las bombas de calor y las calderas de gas en coste y emisiones?
prompt-explain = Explicar algo nuevo
prompt-explain-message = ¿Qué hay de nuevo en la última versión de Python y por qué importa?
prompt-summarize = Resumir una página
prompt-summarize-message = Resume https://es.wikipedia.org/wiki/Cita en cinco puntos.

## Remarks under an answer

budget-model-calls = Se agotó el presupuesto de { NUMBER($limit, useGrouping: 0) } llamadas al modelo.
budget-input-tokens = Se agotó el presupuesto de { NUMBER($limit, useGrouping: 0) } tokens de entrada.
budget-usd = Se agotó el presupuesto de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD.
budget-seconds = Se agotó el tiempo de { NUMBER($limit, maximumFractionDigits: 0) } segundos.
budget-searches = Se agotó el presupuesto de { NUMBER($limit, useGrouping: 0) } búsquedas.
budget-pages = Se agotó el presupuesto de { NUMBER($limit, useGrouping: 0) } páginas.
budget-output-tokens = Se agotó el presupuesto de { NUMBER($limit, useGrouping: 0) } tokens de salida.
budget-day-user = Se agotó tu presupuesto de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD para hoy.
budget-day-channel = Se agotó el presupuesto de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD de este canal para hoy.
budget-day-workspace = Se agotó el presupuesto de { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 6) } USD de este espacio de trabajo para hoy.
rests-on-found = La respuesta se basa en lo encontrado hasta ese momento.
quoted-without-model = Esto se encontró y citó sin el modelo.
closest-passages = Pasajes más cercanos
closest-none-documents = Tus documentos no lo dicen.
closest-none = Nada de lo encontrado responde a esta pregunta.
closest-nearest = Las páginas más cercanas: { $pages }
validity-draft = borrador
validity-deprecated = obsoleto
validity-archived = archivado
validity-ended = válido hasta { $words }
validity-early = válido desde { $words }
validity-replaced =
    { $words ->
        [none] sustituido
       *[other] sustituido por { $words }
    }
closest-greeting = Hazme una pregunta y citaré los pasajes más cercanos que encuentre, cada uno con una nota al pie.
judged-unknown = Valoración: los documentos no mencionan { $names }
judged-open = Valoración: la pregunta no dice de qué trata
judged-share = Valoración: el mejor pasaje cubre el { $covered } % de la pregunta; hace falta el { $enough } %
stopped-before-complete = Se detuvo antes de que la respuesta estuviera completa.
answer-cut = Esta respuesta se cortó en el límite de { NUMBER($limit, useGrouping: 0) } tokens: pide menos o pide el resto.
research-outgrown = La investigación terminó porque ya no cabía en la ventana de contexto del modelo.
part-failed = No se pudo investigar «{ $question }»: { $reason }
model-away = No se puede contactar con el modelo en este momento. Tu administrador puede ver por qué.
model-declined = El modelo no quiso tratar esta pregunta. Hazla de otra manera.
model-unusable = La respuesta del modelo no se pudo usar. Inténtalo de nuevo o pide menos.
peer-away = No se puede contactar con un servicio necesario en este momento. Tu administrador puede ver por qué.
peer-refused = Un servicio necesario rechazó la solicitud. Tu administrador puede ver por qué.
reply-unusable = La respuesta del servicio no se pudo usar.
documents-unindexed = { $count ->
    [one] Un documento aún no está indexado y no se pudo buscar en él
   *[other] { $count } documentos aún no están indexados y no se pudo buscar en ellos
 }; pregunta de nuevo cuando lo estén.
documents-failed = No se pudieron leer estos archivos: { $names }.
documents-partly = No se pudo leer una parte: { $names }.
documents-unread = { $count } de { $files } archivos aquí son de tipos que no se leen ({ $kinds }).
queries-withheld = Algunas consultas no se enviaron a la web porque contenían palabras de documentos o respuestas; la página de la ejecución las indica.
search-unanswered = El servicio de búsqueda { $names } no respondió.
page-away = No se puede acceder a la página; inténtalo más tarde.
page-refused = Los programas no pueden leer la página; ábrela y pega el texto.
page-unreadable = No contiene texto legible; pega el texto.
picture-too-large = La imagen tiene más de { $limit } MB; envía una copia más pequeña.
picture-too-wide = La imagen mide más de { $limit } píxeles de ancho o de alto; envía una copia más pequeña o la parte importante.
picture-damaged = La imagen está dañada; envíala de nuevo.
picture-too-many = Se leen como máximo { $limit } imágenes por pregunta; envía las demás con la siguiente.
picture-nothing = El modelo no vio nada en ella; escribe lo que muestra.
picture-no-model = Las imágenes solo se leen con un modelo; escribe lo que muestra.
picture-no-sight = El modelo { $model } no lee imágenes; escribe lo que muestra.
month-day = { $day } de { $month ->
    [1] enero
    [2] febrero
    [3] marzo
    [4] abril
    [5] mayo
    [6] junio
    [7] julio
    [8] agosto
    [9] septiembre
    [10] octubre
    [11] noviembre
   *[12] diciembre
 }
day = { $date } de { $year }
picture-sent = Imagen enviada por { $name }, { $date }
picture-sent-earlier = Imagen enviada por { $name }
price-unknown = No se conoce el precio de { $model }: su coste no está en el total.
asked-here = aquí
asked-elsewhere = en otro canal
asked-there = en { $place }
asked-earlier = Se preguntó { $where } el { $date }: «{ $question }».
verify-changed =
    { $corrected ->
        [0] { $left ->
            [one] Una frase contradecía sus fuentes y se omitió.
           *[other] { $left } frases contradecían sus fuentes y se omitieron.
        }
        [one] { $left ->
            [0] Se corrigió una frase: sus fuentes no la respaldaban.
            [one] Se corrigió una frase y se omitió otra: sus fuentes no las respaldaban.
           *[other] Se corrigió una frase y se omitieron { $left }: sus fuentes no las respaldaban.
        }
       *[other] { $left ->
            [0] Se corrigieron { $corrected } frases: sus fuentes no las respaldaban.
            [one] Se corrigieron { $corrected } frases y se omitió una: sus fuentes no las respaldaban.
           *[other] Se corrigieron { $corrected } frases y se omitieron { $left }: sus fuentes no las respaldaban.
        }
    }
doubt-contradicted = sus notas la contradicen
doubt-no-footnote = no tiene nota al pie
doubt-not-covered = sus notas no dicen eso
doubt-not-quoted = sus notas no dicen: { $facts }

## Reports

# Verdicts on the statements of a text
check-none = En este texto no hay nada que comprobar: no contiene cifras, fechas, nombres ni otros datos.
check-counts = Comparado con lo encontrado: { $counts }.
check-count-supported =
    { $count ->
        [one] { $count } respaldada
       *[other] { $count } respaldadas
    }
check-count-partly =
    { $count ->
        [one] { $count } respaldada en parte
       *[other] { $count } respaldadas en parte
    }
check-count-contradicted =
    { $count ->
        [one] { $count } refutada
       *[other] { $count } refutadas
    }
check-count-nothing = { $count } sin resultados
check-count-uncheckable =
    { $count ->
        [one] { $count } no comprobable
       *[other] { $count } no comprobables
    }
check-supported = Respaldada
check-partly = Respaldada en parte
check-contradicted = Refutada
check-nothing = Nada encontrado
check-uncheckable = No comprobable
check-unsaid = No está en las fuentes: { $words }
check-needs-model = Comprobar las afirmaciones de un texto requiere un modelo de lenguaje.

report-limits = Lo que no se encontró
report-dropped = Ya no se trata: { $topics }.
report-separator = { "; " }
report-cut-short = Se omitieron las partes del informe que aún no se habían comprobado.
report-not-drafted = No se pudo redactar el informe, así que esta es una respuesta sencilla.
report-not-sourced = Ninguna parte del informe se pudo comprobar con una fuente, así que esta es una respuesta sencilla.
report-omitted-missed = Se omitió «{ $name }»: no quedaba tiempo para comprobarlo.
report-omitted-failed = Se omitió «{ $name }»: no se pudo comprobar.
report-omitted-nothing = Se omitió «{ $name }»: no se encontró nada con que comprobarlo.
report-cut = ⚠ Esta parte se cortó en el límite de { NUMBER($limit, useGrouping: 0) } tokens.
report-stage =
    { $stage ->
        [draft] Borrador
        [query] Decidir qué buscar
        [reading] Buscar y leer
       *[revision] Revisar
    }, en { NUMBER($seconds, maximumFractionDigits: 1) } s como máximo
report-stage-missed = no terminó a tiempo
report-stage-nothing = no se encontró nada
report-left-out = omitido
report-part = parte { $number }
report-unsourced = Sin comprobar con ninguna fuente: { $name }
report-deleted = Omitido porque ninguna fuente lo respalda: { $name }
report-revised =
    Revisado con { $pages ->
        [one] 1 página
       *[other] { $pages } páginas
    }, se conservó el { $kept } % del borrador: { $name }

## The web console

web-ask = Preguntar
web-overview = Resumen
web-handbook = Manual
web-places = Menú principal
web-skip = Ir al contenido
web-threads = Conversaciones
web-no-threads = Tus conversaciones aparecerán aquí.
web-new = Nueva pregunta
web-follow-up = Sigue preguntando…
web-question = ¿Qué quieres saber?
web-no-question = Escribe tu pregunta con palabras.
web-depth = Profundidad
web-send = Preguntar
upload-files = Archivos
upload-attach = Adjuntar archivos
upload-drop = Suelta archivos para preguntar sobre ellos
upload-remove = Quitar { $name }
upload-empty = El archivo { $name } está vacío. Elige otro.
upload-too-large = El archivo { $name } supera los { $limit } MB. Elige uno más pequeño o pega la parte importante.
upload-all-too-large = Son más de { $limit } MB a la vez. Envía menos archivos o más pequeños.
upload-too-many = Se pueden enviar como máximo { $limit } archivos a la vez. Envía los demás después.
upload-unreadable = No se puede leer el archivo { $name }. Se leen texto, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB y CSV sin contraseña, e imágenes PNG, JPEG, WebP y GIF.
upload-gone = Este archivo ya no está. Adjúntalo de nuevo.
upload-without = Aún no se ha enviado. Envía de nuevo para preguntar sin este archivo.
web-enter = Intro para enviar
web-graph = Las subpreguntas y sus dependencias
web-state-waiting = en espera
web-state-running = en curso
web-state-done = listo
web-state-failed = error
web-ready = La respuesta está lista.
web-indexing = Indexando documentos: ya se puede buscar en { $done } de { $total } archivos.
web-lost = Conexión perdida. Reconectando…
web-unsent = No se pudo enviar. Inténtalo de nuevo.
web-resending = Tu pregunta aún no se ha enviado. Reintentando…
web-how = ¿Cómo se obtuvo esta respuesta?
web-source = Fuente { $number }
web-quotes =
    { $count ->
        [one] 1 cita
       *[other] { $count } citas
    }
web-quote = Cita { $number }
web-in-the-page = en la página
web-sources-count = Fuentes ({ $count })
web-closest = Pasajes más cercanos de tus documentos
web-closest-why = Son citas, no una respuesta: ningún modelo de lenguaje las ha leído.
web-closest-has = Contiene: { $words }
web-closest-has-none = No contiene ninguna palabra de la pregunta
web-closest-open = Abrir en este punto
web-closest-lacking = En ningún pasaje: { $words }
web-searched = Se buscó: { $words }
web-copy-code = Copiar el código
web-footnote-before = Nota anterior
web-footnote-after = Nota siguiente
web-source-close = Cerrar la fuente
web-run-said = Lo que dijo el modelo
web-read-at = leído el
web-copy = Copiar como Markdown
web-copied = Copiado.
web-copy-this = Copiar
web-more = Más sobre esta pregunta
web-edit = Editar la pregunta
web-edit-send = Guardar
web-cancel = Cancelar
web-regenerate = Regenerar
web-delete = Eliminar la pregunta y su respuesta
web-delete-sure = ¿Eliminarla? No se puede deshacer.
web-newest = Lo más reciente
web-not-answered = No se pudo responder a la pregunta.
web-show-all = Mostrar todo
web-show-less = Mostrar menos
web-failed = Algo salió mal
web-not-found = Esta página no existe
web-not-found-why = La dirección puede ser incorrecta, o lo que había aquí se eliminó.
web-back = Volver al inicio
web-failed-why = La consola no puede hacer eso aquí. Vuelve atrás y usa los botones y enlaces de sus páginas.
web-broke = Es un fallo de { -brand }, no es culpa tuya, y quedó registrado. Intentarlo de nuevo puede ayudar. Si no, da a tu operador la referencia { $reference }.
web-form-unreadable = El formulario no llegó completo. Vuelve atrás y envíalo de nuevo.
web-too-large = Es demasiado grande para enviarlo: más de { $most }.
web-send-as = El tipo no es correcto. Envíalo como { $kind }.
web-not-json = Esto no es JSON válido.
web-depth-unknown = Esa profundidad no existe. Elige una del menú.
web-starting = { -brand } se está iniciando o deteniendo. Inténtalo de nuevo en un momento.
web-files-again = Elige de nuevo tus archivos
web-for-operators = Solo los operadores de { -brand } pueden ver esta página.
web-handbook-gone = El manual no tiene esa página.
web-too-many-streams = Hay demasiadas páginas abiertas a la vez. Cierra algunas.
refused-tries = Demasiados intentos fallidos. Espera un minuto e inténtalo de nuevo.
refused-requests = Demasiadas peticiones en un minuto. Espera un poco e inténtalo de nuevo.
refused-token = Este token no es correcto. El correcto está en FOOTNOTE_CONSOLE_TOKEN.
refused-sign-in = Inicia sesión primero. Un programa envía el token como «Authorization: Bearer».
refused-unknown = { -brand } no puede averiguar ahora quién eres. Inténtalo de nuevo en un momento.
refused-several = La cabecera { $header } no nombra exactamente a una persona.
refused-by-proxy = No has iniciado sesión. Abre la consola a través del proxy que identifica a las personas.
refused-host = La consola no se conoce con el nombre { $host }. Su operador puede poner en FOOTNOTE_PUBLIC_URL la dirección por la que se accede a ella.
refused-path = Esta no es una ruta de la consola.
refused-cookie = El navegador envió una cookie dos veces. Recarga la página.
refused-site = Esta petición vino de otro sitio. Abre la propia consola.
refused-elsewhere = Esta consola solo se puede usar en la máquina en la que se ejecuta, en http://127.0.0.1.
refused-open-proxy = Detrás de un proxy, la consola necesita FOOTNOTE_CONSOLE_TOKEN.
web-sign-in = Iniciar sesión
web-sign-in-why = Introduce una vez el token de la consola. Tu operador puede dártelo.
web-sign-out = Cerrar sesión
web-sign-out-here-why = Las conversaciones se conservan; este navegador volverá a pedir el token.
web-sign-out-here = Cerrar sesión en este navegador
web-sign-out-all-why = Si alguien que ya no está conoce el token, define también uno nuevo.
web-sign-out-all = Cerrar sesión en todas partes
web-token = Token
web-token-wrong = Token incorrecto. Compruébalo.
sso-failed = No has iniciado sesión
sso-again = Reintentar
sso-signed-out = Has cerrado la sesión
sso-leaving = Has cerrado la sesión de Footnote. Ahora tu servicio de acceso también la cerrará.
sso-leave = Continuar
sso-signed-in-as = Has iniciado sesión como { $name }. Las conversaciones se conservan.
sso-sign-out-all-why = Esto cierra tus sesiones en todos los navegadores.
sso-away = No se puede contactar con el servicio de acceso en este momento. Inténtalo de nuevo en un momento.
sso-denied = El servicio de acceso no te dejó entrar: { $reason }
sso-stale = Este inicio de sesión tardó demasiado o comenzó en otro navegador. Inténtalo de nuevo.
sso-not-allowed = Tu cuenta no puede usar esta consola. Pide acceso a tu administrador.
sso-nameless = El servicio de acceso no envía nada utilizable en el campo «{ $claim }», que identifica aquí a las personas. Tu administrador puede corregirlo.
sso-refused = La respuesta del servicio de acceso no es de fiar. Tu administrador encontrará el motivo en el registro.
web-thread-gone = Esta conversación ya no existe.
web-too-many-questions = Demasiadas preguntas en un minuto. Espera un poco y pregunta de nuevo.
web-was-stop = Aquí no hay nada que detener. Para detener una respuesta en curso, pulsa Detener debajo de ella.
web-not-here = Esta pregunta se hizo en un chat. Continúa allí.
web-not-yours = Solo quien hizo esta pregunta puede cambiarla.

## The console: asking

web-plan-nodes = { $done } de { $total } partes de la investigación listas
web-plan-parts = { $done } de { $total } partes listas
web-plan-searched =
    { $count ->
        [0] Aún sin resultados
        [one] Una búsqueda
       *[other] { $count } búsquedas
    }
web-plan-read =
    { $count ->
        [0] Aún ninguna página leída
        [one] Una página leída
       *[other] { $count } páginas leídas
    }
web-plan-unread =
    { $count ->
        [one] una no se pudo leer
       *[other] { $count } no se pudieron leer
    }
web-plan-nothing-yet = Aún no se ha encontrado nada.
web-plan-done = Investigado en { NUMBER($seconds, maximumFractionDigits: 1) } s
web-plan = El plan
web-plan-node = Buscando: { $title }
web-plan-part = Trabajando en: { $title }
web-seconds = { NUMBER($seconds, useGrouping: 0) } s

### What a question searches

web-sources-asked = Busca en { $asked } de { $all } fuentes
web-sources-which = Dónde busca esta pregunta
web-sources-one = Busca en:
web-sources-nothing = Aquí no hay fuentes en las que puedas buscar.
web-sources-none = Elige al menos una fuente.
web-source-other-documents = Otros documentos
web-source-web = Web
web-source-count =
    { $count ->
        [one] un documento
       *[other] { $count } documentos
    }
prompt-wiki-building = ¿Quién diseñó la Torre Eiffel y cuánto mide?
prompt-wiki-nature = ¿Por qué es azul el cielo?
prompt-wiki-history = ¿Quién inventó la imprenta y cuándo?

### Preferences and keys

web-prefs = Preferencias
web-prefs-keep = Guardar
web-theme = Apariencia
web-theme-system = Como el sistema
web-theme-light = Claro
web-theme-dark = Oscuro
web-language = Idioma
web-language-browser = Como el navegador
web-language-partly = { $name } (parcial)
web-zone = Zona horaria
web-zone-browser = Como el navegador
web-zone-why = Las fechas y horas de todas las páginas se muestran en esta zona horaria.
web-speak = Dictar la pregunta
web-speak-failed = No se pudo usar el micrófono.
web-keys = Atajos de teclado
web-key-send = Enviar la pregunta
web-key-line = Empezar una línea nueva
web-key-box = Ir al cuadro de pregunta
web-key-mark = Ir a la siguiente nota, enlace o botón
web-key-close = Cerrar una cita, un menú o esta lista
web-key-keys = Mostrar esta lista

## The pages that explain a run

web-you = Tú
web-run-asked = Pregunta de { $name } · { $place }
web-run-conversation = Ir a la conversación
web-run-understood = Entendida como:
web-run-sections = En esta página
web-run-working = Footnote está trabajando en ello. Esta página se va actualizando.
web-run-pruned = Los pasos de esta ejecución se eliminaron por su antigüedad. Solo queda la respuesta.
web-run-state-accepted = En espera
web-run-state-running = En curso
web-run-state-answered = Respondida
web-run-state-partial = Respondida en parte
web-run-state-not-found = No encontrada
web-run-state-failed = Error
web-run-state-stopped = Detenida
web-run-state-removed = Eliminada
web-run-step-waiting = en espera
web-run-step-running = en curso
web-run-step-done = listo
web-run-step-failed = error
web-run-took = De la pregunta a la respuesta
web-run-worked = Tiempo de trabajo
web-run-depth = Profundidad
web-run-depth-auto = automática
web-run-depth-quick = rápida
web-run-depth-standard = estándar
web-run-depth-deep = profunda
web-run-depth-exhaustive = exhaustiva
web-run-reasoner = Respondida con
web-run-searches = Búsquedas
web-run-pages-read = Páginas leídas
web-run-calls = Llamadas al modelo
web-run-tokens-in = Tokens de entrada
web-run-tokens-cached = Tokens en caché
web-run-tokens-out = Tokens de salida
web-run-cost = Coste
web-run-attempts = Intentos
web-run-feedback = Opiniones
web-run-answer = La respuesta, frase a frase
web-run-answer-hint = Junto a cada frase están los pasajes que la respaldan. Un número abre la página tal como se leyó.
web-run-more-quotes =
    { $count ->
        [one] Un pasaje más de estas páginas
       *[other] { $count } pasajes más de estas páginas
    }
web-run-disagrees = Pero la página [{ $number }] dice
web-run-not-verbatim = no está palabra por palabra en la página guardada
web-run-page-gone = la página guardada ya no existe
web-run-checks = Comprobaciones
web-run-check-quotes = { $good } de { $all } citas coinciden palabra por palabra con las páginas guardadas.
web-run-check-cited = { $cited } de { $all } frases, títulos y observaciones tienen una nota al pie.
web-run-check-no-doubt = Todas las cifras, fechas y nombres están en su fuente.
web-run-check-verifying = El modelo pequeño está comparando las frases con sus citas.
web-run-check-verified = Según el modelo pequeño, { $good } de { $all } frases citadas están respaldadas por sus citas.
web-run-check-not-verified = El modelo pequeño no pudo verificar las frases: { $problem }
web-run-verdicts = El veredicto del modelo pequeño sobre cada frase
web-run-verdicts-hint = Recibió cada frase citada con exactamente las citas en que se apoya.
web-run-verdict-supported = Respaldada.
web-run-verdict-partly = Respaldada en parte.
web-run-verdict-not-supported = No respaldada.
web-run-verdict-contradicted = Refutada.
web-run-verdict-words = No está en las citas: «{ $words }».
web-run-verdict-marked = Está marcada en la respuesta.
web-run-verdict-left-out = Se omitió.
web-run-verdict-restated = La respuesta ahora dice:
web-run-check-missing = No encontrado: { $what }
web-run-graph = Subpreguntas
web-run-steps = Cronología
web-run-step = Paso
web-run-seconds = Tiempo
web-run-tokens = Tokens y precio
web-run-paused = Entre medias no pasó nada durante { $seconds }. El gráfico acorta ese tiempo.
web-run-waited = esperó { $seconds }: { $lines }
web-run-attempt = intento { $number }
web-run-thinking = Su razonamiento
web-run-search-summary =
    { $hits ->
        [one] 1 resultado
       *[other] { $hits } resultados
    }, { $read } leídos · { NUMBER($seconds, maximumFractionDigits: 2) } s
web-run-for = para: { $line }
web-run-hit-read = leído
web-run-hit-failed = no se pudo leer
web-run-hit-left = no leído
web-run-hits-left =
    { $count ->
        [one] Un resultado que no se leyó
       *[other] { $count } resultados que no se leyeron
    }
web-run-pages = Páginas
web-run-read-at = leída
web-run-whole-page = el texto completo, { $count } caracteres
web-run-not-quoted = No se cita nada de ella.
web-run-gap = { $count } caracteres omitidos
web-run-revisions = Del borrador a la revisión
web-run-revisions-hint = Cada parte se redacta de memoria y luego se corrige con las páginas leídas para ella. En rojo, lo eliminado; en verde, lo añadido.
web-run-fate-revised = revisado
web-run-fate-unsourced = omitido
web-run-fate-deleted = omitido
web-run-queries = Se buscó para ello:
web-run-draft = Borrador
web-run-revision = Revisión
web-run-back = Cómo se obtuvo esta respuesta
web-original = Abrir el original
web-original-gone = El archivo ya no está.
web-run-page-hint =
    { $count ->
        [0] Esta es la página tal como se leyó. No se cita nada de ella.
        [one] Esta es la página tal como se leyó. Lo que se cita está marcado.
       *[other] Esta es la página tal como se leyó. Lo que se cita está marcado, en { $count } lugares.
    }
web-history-today = Hoy
web-history-yesterday = Ayer
web-history-pinned = Fijadas
web-history-older = Conversaciones anteriores
web-history-all = Todas las conversaciones
web-history-find = Buscar conversaciones
web-history-search = Buscar
web-history-questions =
    { $count ->
        [one] una pregunta
       *[other] { $count } preguntas
    }
web-history-found =
    { $count ->
        [0] Ninguna conversación contiene las palabras «{ $words }».
        [one] Una conversación contiene las palabras «{ $words }».
       *[other] { $count } conversaciones contienen las palabras «{ $words }».
    }
web-history-manage = Gestionar { $name }
web-history-select = Seleccionar { $name }
web-history-select-all = Seleccionar todo en esta página
web-history-delete-chosen = Eliminar lo seleccionado
web-history-delete-several =
    { $count ->
        [one] ¿Eliminar una conversación?
       *[other] ¿Eliminar { $count } conversaciones?
    }
web-history-delete-several-why = Sus preguntas, respuestas y archivos se eliminan para siempre, y sus enlaces dejan de funcionar.
web-history-name = Nombre de la conversación
web-history-rename = Cambiar nombre
web-history-pin = Fijar al principio de la lista
web-history-unpin = Dejar de fijar
web-history-delete = Eliminar la conversación
web-history-delete-sure = Eliminar para siempre
web-history-more = Más sobre esta conversación
web-did-rename = Nombre cambiado.
web-did-pin = Fijada al principio de la lista.
web-did-unpin = Ya no está fijada.
web-did-share = El enlace está listo para copiar.
web-did-unshare = El enlace ya no funciona.
web-share = Compartir
web-share-why = Pueden abrir el enlace quienes pueden usar esta consola y leer todas las fuentes de esta conversación.
web-share-begin = Crear un enlace
web-share-end = Revocar el enlace
web-share-copy = Copiar el enlace
web-share-copied = Enlace copiado.
web-share-is = Compartida
web-share-read-only = Esta es una conversación compartida. Puedes leerla, pero no cambiarla.
web-share-out-of-reach = Esta conversación no se puede mostrar: usa documentos que no puedes leer.
web-export = Exportar
web-export-pdf = Imprimir o PDF
web-export-html = Archivo HTML
web-export-md = Markdown
web-export-bib = Fuentes en BibTeX
web-export-csl = Fuentes en CSL-JSON
web-export-made = Exportado
feedback-why = ¿Qué está mal?
feedback-wrong = Incorrecta
feedback-incomplete = Incompleta
feedback-bad-source = Mala fuente
feedback-outdated = Desactualizada
feedback-words = Con tus palabras (opcional)
feedback-send = Enviar
web-overview-sum =
    { $days ->
        [1] Hoy
       *[other] En los últimos { $days } días
    }: { $questions ->
        [one] una pregunta
       *[other] { $questions } preguntas
    } de { $people ->
        [one] una persona
       *[other] { $people } personas
    }, { $unanswered ->
        [0] ninguna
       *[other] { $unanswered }
    } sin respuesta{ $cost ->
        [0] { "" }
       *[other] , { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD
    }.
web-overview-pace =
    La mitad de las respuestas llegó en { $median } o menos{ $cost ->
        [0] { "" }
       *[other] ; una respuesta costó { NUMBER($cost, minimumFractionDigits: 2, maximumFractionDigits: 4) } USD de media
    }.
web-overview-judged = Opinión de los lectores: { $good } útiles, { $bad } no útiles.
web-overview-now = Ahora mismo: { $running } en curso, { $waiting } en espera.
web-overview-answered = Respondidas
web-overview-unanswered = Sin respuesta
web-overview-times =
    { $count ->
        [one] preguntada una vez
       *[other] preguntada { $count } veces
    }
web-overview-unanswered-why = Las fuentes no lo dicen, o solo en parte.
web-overview-add-search = Cómo conectar una fuente
web-overview-more-unanswered = Todas las preguntas sin respuesta
web-overview-complaints = Lo que los lectores vieron mal
web-overview-no-complaints = Ningún lector ha marcado una respuesta como no útil.
web-overview-more-feedback = Todas las opiniones
web-overview-by-channel = Dónde se preguntó
web-overview-by-collection = Qué citan las respuestas
web-overview-collection = Colección
web-overview-answers-quote = Respuestas
web-overview-documents-quoted = Documentos
web-overview-no-collection = en ninguna colección
web-unanswered = Preguntas sin respuesta
web-unanswered-why = Lo que se preguntó y las fuentes no dicen, o dicen solo en parte. Añade documentos o conecta una fuente que lo diga. Las preguntas con las mismas palabras se cuentan juntas.
web-unanswered-csv = Descargar como CSV
web-unanswered-times = Veces
web-unanswered-none = Todas las preguntas de este periodo y lugar se respondieron.
web-feedback = Opiniones
web-feedback-why = Qué opinan los lectores de las respuestas. Cada pregunta lleva a cómo se respondió.
web-feedback-verdict = Veredicto
web-feedback-words = Con sus palabras
web-feedback-at = Fecha
web-feedback-none = Aún no hay opiniones en este periodo y lugar. Los lectores las dan con los botones debajo de una respuesta.
web-overview-filter = Filtro
web-overview-period = Periodo
web-overview-days =
    { $count ->
        [1] Hoy
       *[other] { $count } días
    }
web-overview-platform = Plataforma
web-overview-workspace = Espacio de trabajo
web-overview-channel = Canal
web-overview-all = Todos
web-overview-show = Mostrar
web-overview-questions = Preguntas
web-overview-cost = Coste
web-overview-per-day = Preguntas por día
web-overview-cost-per-day = Coste por día
web-overview-as-table = Como tabla
web-overview-day = Día
web-overview-providers = Servicios de búsqueda
web-overview-providers-hint =
    { $count ->
        [one] En la última búsqueda.
       *[other] En las últimas { $count } búsquedas.
    }
web-overview-provider = Servicio
web-overview-found = Búsquedas con resultados
web-overview-failed = Búsquedas fallidas
web-overview-last-failure = Último fallo
web-overview-latest = Últimas preguntas
web-overview-question = Pregunta
web-overview-state = Resultado
web-overview-asked = Fecha
web-overview-nothing = No hay preguntas en este periodo y lugar.
web-overview-everything = Mostrar los últimos 90 días, todos los lugares
web-overview-new = Aún no hay preguntas. Cuando alguien pregunte en un chat conectado o en esta consola, verás aquí qué se preguntó, qué no se pudo responder y cuánto costó.
web-overview-ask = Hacer la primera pregunta
web-overview-csv = Descargar los días como CSV
web-overview-json = Todas las cifras en JSON

### The documents that are searched, for operators

sources = Fuentes
sources-none = Aún no hay documentos. Sube archivos, añade una carpeta o indica carpetas en FOOTNOTE_DOCS.
sources-unindexed = Aún no hay documentos indexados: ejecuta primero `footnote index CARPETA`.
sources-path-gone = No existe el archivo o la carpeta { $path }: corrige --docs o FOOTNOTE_DOCS.
sources-sum =
    { $found ->
        [0] No se encontraron archivos.
        [one] Se busca en { $documents } de 1 archivo.
       *[other] Se busca en { $documents } de { $found } archivos.
    }
sources-starts = { -brand } se está iniciando con los nuevos documentos. Tarda unos segundos.
sources-folders = Carpetas
sources-index = Indexar de nuevo ahora
sources-index-one = Indexar de nuevo esta carpeta
sources-index-why = Solo se leen los archivos nuevos, cambiados o ilegibles.
sources-indexing = Indexando…
sources-looked = Última comprobación:
sources-next = Próxima comprobación:
sources-changed = Último archivo leído:
sources-number = { $count }
sources-document = Con búsqueda
sources-stale = Con búsqueda en una versión anterior
sources-copy = Mismo texto que otro
sources-empty = Vacíos
sources-large = Demasiado grandes
sources-unreadable = Ilegibles
sources-kind = Tipo no admitido
sources-hidden = Ocultos
sources-other = Enlaces y archivos sin permiso de lectura
sources-folder = Carpetas omitidas
sources-readers = Quién puede leerlos
sources-documents = Documentos
sources-everybody = quienes pueden preguntar
sources-channels = canales { $ids }
sources-people = personas { $ids }
sources-slack-groups = grupos de usuarios de Slack { $ids }
sources-discord-roles = roles de Discord { $ids }
sources-console-users = en la consola { $ids }
sources-console-groups = grupos de la consola { $ids }
sources-others = También se busca en
sources-server = { $name }, un servidor del Model Context Protocol: { $readers }
sources-chat = { $name }: conversaciones, para preguntas hechas allí
sources-find = Buscar en el índice
sources-all = Lo que el índice encuentra en todos los documentos, los mejores resultados primero.
sources-hidden-from = Lo que el índice encuentra, los mejores resultados primero, sin los documentos que no puedes leer: { $names }.
sources-found =
    { $count ->
        [0] No se encontró nada.
        [one] Un pasaje.
       *[other] { $count } pasajes.
    }
sources-open = Abrir en este punto
sources-read = Leído
sources-same = mismo texto que { $path }
sources-no-ending = sin extensión
sources-list-end = No hay más archivos aquí.
sources-back = Anterior
sources-more = Siguiente
sources-gone = Este archivo o carpeta ya no está entre los documentos.
sources-is-set = Definida fuera de la consola, como { $name }.
sources-is-added = Añadida aquí.
sources-uploads = Archivos subidos
sources-manage = Verlos o quitarlos
sources-add = Añadir documentos
sources-add-why = Quienes pueden preguntar pueden leer lo que se añade aquí, salvo que una colección limite sus lectores.
sources-shut = Aquí no se pueden añadir ni quitar documentos: define { $name } para permitirlo a los operadores.
sources-upload = Subir archivos
sources-upload-why = Texto, Markdown, HTML, PDF, Word, PowerPoint, Excel y más, hasta { $limit } MB cada uno y diez a la vez.
sources-upload-now = Subir
sources-replace = Reemplazar los archivos con el mismo nombre
sources-no-file = Elige al menos un archivo.
sources-not-read = El archivo { $name } es de un tipo que no se lee. Se leen texto, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB y CSV.
sources-exists = Ya hay un archivo { $name }. Marca «Reemplazar los archivos con el mismo nombre» para reemplazarlo.
sources-not-stored = No se pudo guardar el archivo { $name }: { $why }.
sources-add-folder = Añadir una carpeta de este servidor
sources-add-look = Examinar la carpeta
sources-add-found = { $path } tiene { $found } archivos, { $documents } de tipos que se leen. Quienes pueden preguntar podrán leerlos.
sources-add-sure = Añadir la carpeta
sources-add-not = Cancelar
sources-no-folder = «{ $path }» no es una carpeta que { -brand } pueda leer. Escribe su ruta completa en este servidor.
sources-own-folder = «{ $path }» contiene la carpeta donde { -brand } guarda sus propios datos, o está en ella. Indica otra.
sources-followed = Ya se busca en «{ $path }».
sources-drop = Quitar la carpeta
sources-drop-why = Sus archivos se quedan donde están. Ya no se busca en ellos.
sources-drop-sure = Quitar

# Connecting chats and models in the console, and its page of the status.
connect = Conectar { $name }
connect-slack-app = Crea la aplicación. El enlace lleva todos sus ajustes: elige tu espacio de trabajo y luego «Next» y «Create».
connect-slack-open = Crear la aplicación en Slack
connect-slack-bot = Elige «Install App», instálala en tu espacio de trabajo y copia el «Bot User OAuth Token».
connect-slack-bot-field = Bot User OAuth Token (xoxb-…)
connect-slack-socket = En «Basic Information», «App-Level Tokens», elige «Generate Token and Scopes». Añade connections:write, genera el token y cópialo.
connect-slack-socket-field = Token de aplicación (xapp-…)
connect-slack-connected = Invítalo a un canal con /invite { $name } y menciónalo.
connect-discord-app = Elige «New Application». En «Bot», elige «Reset Token» y copia el token.
connect-discord-open = Abrir tus aplicaciones en Discord
connect-discord-intent = En la misma página, activa «Message Content Intent».
connect-discord-enter = Introduce el token.
connect-discord-field = Token del bot
connect-discord-connected = Añádelo a tu servidor con el enlace de arriba. Después pregunta con /ask o menciónalo.
connect-claude-key = Crea una clave de API en Anthropic y cópiala.
connect-claude-open = Abrir la página de tus claves
connect-claude-enter = Introduce la clave.
connect-claude-field = Clave de API (sk-ant-…)
connect-claude-connected = Ahora Claude busca, lee y escribe las respuestas.
connect-copy = O copia los ajustes de la aplicación (su manifiesto)
connect-entered = Ya introducido. Déjalo vacío para usarlo.
connect-missing = Rellena este campo.
connect-test = Probar y conectar
connect-lines = Mostrar solo las líneas para .env
connect-lines-shown = Funciona. Pon estas líneas en .env donde se ejecuta { -brand } y reinícialo. Se muestran una sola vez y no se guardan en ningún sitio.
connect-starting = { -brand } se está iniciando con los nuevos ajustes…
connect-connecting = Conectando con { $name }…
connect-checking = Comprobando…
connect-given = { $name } está configurado fuera de la consola ({ $names }): cámbialo allí.
connect-off = Aquí no se puede introducir nada, porque otras personas pueden acceder a esta consola. Define { $names } donde se ejecuta { -brand } o permítelo con FOOTNOTE_CONSOLE_SETUP=on.
connect-kept-why = Lo que introduces se guarda cifrado donde se ejecuta { -brand }.
connect-drop = Desconectar
connect-drop-why = { -brand } deja de usar { $name } y elimina lo introducido aquí.
status = Estado
status-again = Comprobar de nuevo
status-checked = Comprobado
status-connected = Conectado
status-works = Funciona
status-problem = Problema
status-note = Nota
status-off = Sin configurar
status-checking = Comprobando

## Why a file is not read; the kinds of files

unread-folder = La carpeta no se puede abrir ({ $why }).
unread-shut = El archivo no se puede abrir ({ $why }).
unread-cannot = El archivo no se puede leer ({ $why }).
unread-not-regular = No es un archivo normal.
unread-exchanged = El archivo se cambió por un enlace mientras se leía la carpeta.
unread-link-nowhere = El enlace no lleva a ninguna parte.
unread-link-out = El enlace lleva fuera de las carpetas indexadas.
unread-no-text = No contiene texto.
unread-too-large = Ocupa { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB y el límite para { $kind } es de { NUMBER($most, maximumFractionDigits: 6) } MB: divídelo en archivos más pequeños.
unread-too-large-pictures = Ocupa { NUMBER($size, minimumFractionDigits: 1, maximumFractionDigits: 1) } MB y el límite para { $kind } es de { NUMBER($most, maximumFractionDigits: 6) } MB: divídelo en archivos más pequeños o guárdalo con imágenes más pequeñas.
unread-slow = Leerlo tarda más de { $seconds } s: divídelo o conviértelo en texto.
unread-memory = Leerlo necesita más de { $most } de memoria: divídelo en archivos más pequeños.
unread-broke = El lector falló con este archivo: guárdalo de nuevo o conviértelo en texto.
unread-kept = Su texto del { $date } se conserva hasta que se pueda leer.
unread-empty = { $name } está vacío; no hay nada que leer.
unread-kind = { -brand } no lee { $name } ({ $what }); guárdalo como PDF, .docx, HTML o texto, o pega el texto.
unread-image = { -brand } no lee { $name } ({ $what }); guárdalo como PNG, JPEG, WebP o GIF y envíalo con una pregunta.
unread-old = { $name } tiene un formato antiguo ({ $what }); ábrelo y guárdalo como { $ending }, que { -brand } sí lee.
unread-locked = { $name } está protegido con contraseña; guarda una copia sin ella o pega su texto.
unread-beginning = { $name } está dañado: no empieza como un archivo { $kind }; usa otra copia.
unread-man = { $name } tiene la extensión de una página de manual, pero no lo es; ponle la extensión .txt para que se lea como texto.
unread-broken = { $name } está dañado ({ $what }); ábrelo y guárdalo de nuevo, o usa otra copia.
unread-entities = { $name } declara entidades propias, algo que ningún programa de Office hace; ábrelo y guárdalo de nuevo, o pega su texto.
unread-unpacked = { $name } ocupa, descomprimido, más de lo que { -brand } lee ({ NUMBER($size, maximumFractionDigits: 0) } MB en total); divídelo en documentos más pequeños o pega la parte que importa.
unread-part = { $name } ocupa, descomprimido, más de lo que { -brand } lee ({ NUMBER($size, maximumFractionDigits: 0) } MB en una parte); divídelo en documentos más pequeños o pega la parte que importa.
unread-paragraph = { $name } contiene un párrafo o una fila de más de { $most } MB, algo que ningún documento tiene; pega el texto que importa.
unread-entries = { $name } contiene más de { $most } archivos, algo que ningún documento tiene; usa el documento mismo.
unread-gzip-large = { $name } ocupa más de { $most } descomprimido; divídelo en archivos más pequeños.
unread-gzip-broken = { $name } es un archivo gzip dañado; comprímelo de nuevo o usa el archivo que contiene.
unread-pdf-pictures = { $name } es un PDF de imágenes sin texto; usa una versión con reconocimiento de texto (OCR) o pega su texto.
unread-pdf-broken = { $name } es un PDF dañado; usa otra copia o pega su texto.
unread-pdf-locked = { $name } es un PDF protegido con contraseña; usa una versión sin ella o pega su texto.
unread-epub = { $name } es un libro EPUB protegido contra copia; usa uno sin protección o pega el texto que importa.
unread-notebook = { $name } es un cuaderno de Jupyter dañado; ábrelo y guárdalo de nuevo, o expórtalo como HTML.
unread-outlook = { $name } es un mensaje de Outlook dañado; guárdalo de nuevo o como .eml.
unread-code = { $name } es código comprimido; usa el código del que procede.
unread-pandoc = pandoc no pudo leer { $name }; guárdalo como PDF, .docx, HTML o texto.
unread-no-pandoc = Leer { $name } requiere pandoc: instálalo o ejecuta pip install 'footnote-bot[pandoc]'.
unread-crashed = { $name } no se ha podido leer: su lector falló o necesitaba más de { $most } de memoria; pega su texto.
unread-hungry = Leer { $name } requiere más de { $most } de memoria; divídelo o pega la parte que importa.
unread-made-slow = { $name } está hecho de tal modo que leerlo tarda demasiado; pega su texto.
unread-scripted = { $name } no contiene texto que se pueda leer sin un navegador; pega el texto.
unread-unsearchable = { $name } es demasiado largo, o está hecho de tal modo que buscar pasajes en él tarda demasiado; pega la parte que importa.
gate-login = { $name } solo muestra un formulario de inicio de sesión; pega el texto o indica una página pública.
gate-check = { $name } solo admite navegadores y muestra una comprobación en su lugar; pega el texto.
gate-script = { $name } solo admite navegadores: muestra su texto con JavaScript; pega el texto.
gate-missing = { $name } no existe: su sitio muestra allí una página de error; revisa la dirección.
gate-sale = { $name } ya no existe: su dirección está en venta; busca otra.
gate-preview = { $name } solo muestra un avance a quien no ha pagado; pega el texto o indica una página gratuita.
gate-cookies = { $name } solo muestra una pregunta sobre las cookies; pega el texto.
file-lost = El archivo { $name } ya no está: adjúntalo otra vez.
disk-unmounted = El disco de { $path } no está montado; lo que se indexó de él se conserva.
what-image = imagen
what-media = imagen, sonido o vídeo
what-sound-video = sonido o vídeo
what-audio = archivo de sonido
what-video = vídeo
what-font = fuente tipográfica
what-archive = archivo comprimido
what-program = programa
what-database = base de datos
what-binary = archivo binario
what-xml = documento XML
what-type = tipo { $type }
what-gzip = comprimido varias veces con gzip
what-xlsb = libro binario de Excel (.xlsb)
what-iwork = documento de Pages, Numbers o Keynote de Apple
what-doc = documento antiguo de Word (.doc)
what-xls = libro antiguo de Excel (.xls)
what-ppt = presentación antigua de PowerPoint (.ppt)
what-office = documento antiguo de Office
what-zip = archivo ZIP, como los documentos de Office
what-document = documento
what-word = documento de Word
what-sheets = libro de Excel
what-slides = presentación de PowerPoint
what-opendocument = archivo OpenDocument
what-epub = libro EPUB
format-text = texto sin formato
format-man = páginas de manual
format-notebook = cuadernos de Jupyter
format-mail = correo
format-outlook = mensajes de Outlook
format-subtitles = transcripciones
format-settings = archivos de configuración
format-log = registros
format-code = código fuente
format-gzipped = { $kind } (gzip)

## Said in several places

sentences = { $first } { $next }
size = { NUMBER($amount, maximumFractionDigits: 1) } { $power ->
    [0] bytes
    [1] kB
    [2] MB
   *[3] GB
}
listed = { $first }, { $next }
storage-sqlite = SQLite en { $path }
storage-postgres = PostgreSQL en { $host } (base de datos { $name })

# The names of the parts that are checked
part-kept = Configurado en la consola
part-storage = Almacenamiento
part-uploads = Archivos subidos
part-documents = Documentos
part-changes = Cambios
part-extras = Extras
part-rights = Permisos
part-network = Red
part-meaning = Búsqueda por significado
part-search =
    Búsqueda ({ $name ->
        [local] documentos
       *[other] { $name }
    })
part-reader = Servicio de lectura
part-browser = Navegador
part-model = Modelo
part-budget = Presupuesto
part-console = Consola

# What the checks find
check-slow = No hubo respuesta en { $seconds } segundos. Comprueba la red e inténtalo de nuevo.
check-broke = Esto falló de forma inesperada ({ $error }). El registro tiene los detalles.
check-storage = { $place } funciona.
check-storage-open = Otros usuarios de esta máquina pueden leer { $names } en { $folder }. `chmod -R go= { $folder }` lo impide.
check-storage-full = Solo quedan { $free } de espacio en disco: libere espacio.
check-uploads =
    { $count ->
        [0] No hay archivos subidos.
        [one] Hay un archivo subido, de { $size }.
       *[other] Hay { $count } archivos subidos, { $size } en total.
    }
check-uploads-today = Hoy se subieron { $sent }, como máximo { $most } por una persona.
check-uploads-limit = Cada persona puede subir { $limit } al día.
check-budget =
    { $usd ->
        [0] Hoy no se ha gastado nada.
       *[other] Hoy se han gastado { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD.
    }
check-budget-limits = Como máximo { $limits }.
check-budget-question = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD por pregunta
check-budget-person = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD al día por persona
check-budget-channel = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD al día por canal
check-budget-workspace = { NUMBER($usd, minimumFractionDigits: 2, maximumFractionDigits: 2) } USD al día por espacio de trabajo
check-documents-missing = No hay nada en { $paths }. Corrige FOOTNOTE_DOCS o créalo.
check-documents-none = Aún no hay nada indexado. Añade documentos en la página «Fuentes» o ejecuta `footnote index CARPETA`.
check-documents =
    { $count ->
        [0] No hay documentos indexados
        [one] Hay un documento indexado
       *[other] Hay { $count } documentos indexados
    } en { $path }.
check-documents-unread =
    { $count ->
        [one] Uno de { $files } archivos es de un tipo que no se lee
       *[other] { $count } de { $files } archivos son de tipos que no se leen
    } ({ $kinds }).
check-documents-lost =
    { $count ->
        [one] De un archivo se pudo leer menos del 90 % de las palabras
       *[other] De { $count } archivos se pudo leer menos del 90 % de las palabras
    }: { $names }.
check-documents-stale =
    { $count ->
        [one] Un archivo no se puede leer ahora; se sigue buscando en su texto anterior
       *[other] { $count } archivos no se pueden leer ahora; se sigue buscando en su texto anterior
    }: { $names }.
check-changes-none = No se sigue ninguna carpeta. FOOTNOTE_DOCS indica las que se siguen.
check-changes-start = `footnote serve` busca cambios solo al iniciarse, porque FOOTNOTE_DOCS_POLL es 0.
check-changes =
    `footnote serve` busca cambios cada { $seconds ->
        [one] segundo
       *[other] { $seconds } segundos
    }, con menos frecuencia en carpetas grandes.
check-changes-never = Todavía no lo ha hecho.
check-changes-last = La última vez fue a las { $at } UTC.
extra-needed = { $use } necesita el extra «{ $extra }»: { $install }.
extra-browser = páginas web construidas con scripts
extra-discord = Discord
extra-mcp = el Model Context Protocol
extra-office = libros de Excel, mensajes de Outlook
extra-openai = modelos mediante la API de OpenAI
extra-otel = trazas para OpenTelemetry
extra-pandoc = RTF, LaTeX, DocBook, MediaWiki, Textile
extra-postgres = PostgreSQL y su cola
extra-slack = Slack
extra-sso = inicio de sesión único para la consola
extra-vectors = búsqueda de documentos por significado
check-extras-all = Todos están instalados.
check-extras-one = { $extra } ({ $use })
check-extras = Sin instalar: { $extras }. `{ $install }` los añade; nombra solo los que necesites.
check-rights-none = Todas las personas que pueden preguntar pueden buscar en todos los documentos. Para limitarlo, declara [[collections]] en footnote.toml.
check-rights = «{ $name }» ({ $count }): { $who }.
check-rights-others = Todos los demás documentos ({ $count }): todas las personas que pueden preguntar.
check-rights-unindexed = aún sin indexar
check-rights-ever = Sin FOOTNOTE_DOCS se busca en todo lo que se haya indexado alguna vez.
check-network = El proxy { $proxy } responde.
check-network-authorities = También se confía en las autoridades de { $path }.
check-network-none = No hay ningún proxy configurado.
check-network-pages = Las páginas se leen a través de { $proxy } ({ $target }).
check-network-names = Esta máquina no puede resolver nombres de internet. FOOTNOTE_FETCH_PROXY_TARGET=unresolved se lo deja al proxy.
check-network-direct = Las páginas se leen sin proxy.
check-network-bypass = Se accede sin proxy a: { $hosts }.
check-meaning-off = Los documentos se buscan solo por palabras. Para buscarlos también por significado, define FOOTNOTE_EMBEDDINGS_URL.
check-meaning = { $model } responde con vectores de { $count } números.
check-meaning-vectors =
    { $count ->
        [0] Aún no hay nada indexado.
       *[other] { $having } de { $count } pasajes tienen un vector.
    }
check-meaning-missing = `footnote index` crea los que faltan.
check-search = Una búsqueda de prueba funcionó.
check-search-price = Una búsqueda cuesta { NUMBER($usd, minimumFractionDigits: 2) } USD y los tokens de una llamada a { $model }.
check-search-quota = Quedan { $left } de las { $most } peticiones de este mes.
check-search-unlimited = El plan no tiene límite mensual.
check-search-rate = El plan permite más peticiones por segundo de las que se hacen: define FOOTNOTE_BRAVE_RATE={ $rate } para usarlas.
check-search-credits =
    { $left ->
        [one] Queda un crédito.
       *[other] Quedan { $left } créditos.
    }
check-search-used = Se han usado { $used } de { $most } créditos.
check-search-found =
    Una búsqueda de prueba { $count ->
        [0] no encontró nada.
        [one] encontró una página.
       *[other] encontró { $count } páginas.
    }
check-search-silent = Buscadores que no respondieron: { $names }.
check-mcp = Se busca con { $tools }.
check-mcp-read = Las páginas se leen con { $tool }.
check-mcp-others =
    { $count ->
        [one] Otra herramienta no se llama nunca.
       *[other] Otras { $count } herramientas no se llaman nunca.
    }
check-reader-off = Ninguno. Para que un servicio lea las páginas que necesitan un navegador, define FOOTNOTE_READER_URL.
check-reader = { $name } responde: leyó { $url } ({ $count } caracteres).
check-browser-off = Ninguno. Para leer páginas construidas con scripts, define FOOTNOTE_BROWSER.
check-browser = Chromium { $version } se inicia.
check-browser-open = Funciona sin su sandbox, así que una página maliciosa podría obtener los permisos de { -brand }.
check-model = { $name } responde.
check-model-none = Ninguno: las respuestas son los pasajes más cercanos. Conecta Claude en la consola o define ANTHROPIC_API_KEY, o define FOOTNOTE_MODEL=openai:NOMBRE para un modelo de OpenAI o propio.
check-platform-off = Sin conectar. Conéctalo en la consola o define { $names }.
check-discord =
    { $name } { $count ->
        [0] aún no está en ningún servidor.
        [one] está en un servidor.
       *[other] está en { $count } servidores.
    }
check-discord-invite = Añádelo a un servidor en { $url }.
check-discord-strangers = Cualquiera puede instalarlo para sí, y { $setting } le permite buscar en los documentos. Desactiva «User Install» en «Installation» o quita ese ajuste.
check-discord-endpoint = La aplicación envía los comandos a una «Interactions Endpoint URL», así que nunca llegan a { -brand }. Vacía ese campo en «General Information», en https://discord.com/developers/applications.
check-discord-intent = Discord no muestra a { -brand } los mensajes que no lo mencionan, así que para seguir preguntando hay que mencionarlo. Activa «Message Content Intent» en «Bot», «Privileged Gateway Intents», en https://discord.com/developers/applications.
check-discord-token = Discord no acepta DISCORD_TOKEN. Copia el token de nuevo: «Bot», «Reset Token» en https://discord.com/developers/applications.
check-discord-away = No se puede contactar con Discord. Comprueba la red y https://discordstatus.com, e inténtalo de nuevo.
check-slack = @{ $bot } está en { $team }.
check-slack-socket = Socket Mode funciona.
check-slack-http = Se verifican los eventos que llegan a /slack/events.
check-slack-unused = SLACK_CLIENT_ID no se usa mientras SLACK_BOT_TOKEN esté definido.
check-slack-searched =
    { $meaning ->
        [True] Los mensajes se buscan por significado
       *[other] Se busca en los mensajes
    } ({ $kinds }).
slack-public-channel = canales públicos
slack-private-channel = canales privados
slack-mpim = mensajes de grupo
slack-im = mensajes directos
check-slack-unsearched = No se busca en los mensajes, porque a la app le falta el scope { $scope }.
check-slack-unsearchable = No se puede buscar en los mensajes ({ $detail }).
check-slack-files = También se busca en los archivos.
check-slack-no-files = No se busca en los archivos, porque a la app le falta el scope { $scope }.
check-slack-installed =
    { $count ->
        [0] Aún ningún espacio de trabajo ha instalado la app.
        [one] Un espacio de trabajo ha instalado la app: { $names }.
       *[other] { $count } espacios de trabajo han instalado la app: { $names }.
    }
check-slack-install = Instálala en { $url }; después Slack vuelve a { $back }.
check-slack-scopes =
    { $count ->
        [one] A la app de Slack le falta el scope { $names }
       *[other] A la app de Slack le faltan los scopes { $names }
    }{ $team ->
        [none] {""}
       *[other] {" "}en { $team }
    }. Añade lo que falta en «OAuth & Permissions», en https://api.slack.com/apps (o pega adapters/slack/manifest.yaml en «App Manifest»), e instala la app de nuevo.
check-slack-revoked = Slack ya no acepta el token de { $team }. Instala allí la app de nuevo: { $url }.
check-slack-token = Slack no acepta { $setting } ({ $code }). Cópialo de nuevo de la página de tu app en https://api.slack.com/apps.
check-slack-secret = SLACK_SIGNING_SECRET no tiene 32 dígitos hexadecimales. Copia el «Signing Secret» de «Basic Information» de tu app en https://api.slack.com/apps.
check-slack-kind = { $setting } no empieza por { $beginning }, así que es otro tipo de token. Copia el correcto de «{ $page }» de tu app en https://api.slack.com/apps.
check-slack-away = Slack no responde en { $url }. Comprueba la red o FOOTNOTE_SLACK_API_URL.
check-slack-socket-scope = A SLACK_APP_TOKEN le falta connections:write. Crea un nuevo token de nivel de app con él en «Basic Information» de tu app en https://api.slack.com/apps.
check-slack-socket-off = Slack no abre ninguna conexión de Socket Mode ({ $code }). Activa Socket Mode en tu app en https://api.slack.com/apps.
check-console = `footnote serve` la abre en { $place }.
check-console-shut = Pero nadie puede preguntar allí.
check-console-list = { $setting } no nombra la consola: añade { $id } a la lista.
check-console-without = Si no quieres consola, define FOOTNOTE_CONSOLE=off.
check-console-off = Desactivada. Para preguntar en un navegador, quita FOOTNOTE_CONSOLE.
check-console-closed = Cerrada, porque otras personas pueden acceder a ella. Para abrirla, define FOOTNOTE_CONSOLE_TOKEN o FOOTNOTE_OIDC_ISSUER.
check-sso =
    { $issuer } identifica a las personas, con { $count ->
        [one] una clave
       *[other] { $count } claves
    }. Registra allí { $redirect } como dirección de redirección.
check-sso-out = Registra { $address } como dirección tras cerrar la sesión.
kept-folder-gone = No existe la carpeta { $path }.
kept-given = { $name } ya está definido fuera de la consola. Cámbialo allí.
kept-key-gone = Las claves y los tokens introducidos en la consola no se pueden descifrar: { $where } falta, no se puede leer o es otra clave. Devuelve la correcta a su sitio o introdúcelos de nuevo.
kept-key-none = Los secretos solo se guardan cifrados. Define FOOTNOTE_ENCRYPTION_KEYS con una clave que imprime `footnote keys new` y guárdala separada de la base de datos.
kept-key-unreadable = No se puede leer { $path } ({ $why }).
kept-key-other = { $path } no es la clave que { -brand } escribió allí.
kept-key-unwritten = No se puede escribir { $path } ({ $why }).

# What services answer
api-of = La API de { $name }
wiki-at = El wiki de { $host }
embeddings-endpoint = El servicio de embeddings
claude-search = La búsqueda web de Claude
search-late = No respondió en { $seconds } s: inténtalo más tarde.
search-rate = { $title } no admite más peticiones por ahora: inténtalo más tarde.
search-down = { $title } está saturado o caído (HTTP { $status }): inténtalo más tarde.
search-redirect = { $title } redirige a otro sitio, lo que no se sigue: comprueba { $place }.
search-refused = { $title } no acepta la petición (HTTP { $status }).
search-access = { $title } deniega el acceso: permite allí esta máquina o comprueba { $place }.
search-key = { $title } no acepta su clave: corrige { $key }.
search-quota = La cuota se ha agotado ({ $title }): amplía el límite del plan o quita el servicio de FOOTNOTE_PROVIDERS.
search-garbled = { $title } dio una respuesta que no se puede leer: comprueba { $place }.
search-slow = { $title } no responde a tiempo: inténtalo más tarde.
search-away = No se puede contactar: { $title }. Comprueba la red y { $place }.
service-other = { $host } responde, pero no como se espera ({ $service }): comprueba { $url }.
service-slow = { $model } tardó más de { $seconds } segundos en responder: inténtalo de nuevo o aumenta FOOTNOTE_MODEL_TIMEOUT.
service-away = No se puede contactar o se cortó la conexión: { $host }. Comprueba la red e inténtalo de nuevo.
service-garbled = { $host } envió una respuesta que no se puede leer: inténtalo de nuevo o comprueba { $url }.
service-unpaid = La cuenta de { $key } no puede pagar esta petición: { $words }
service-key = { $host } no acepta { $key }: { $words }. Corrige la clave o sus permisos.
service-unknown = { $host } no conoce el modelo { $model }: define { $setting } con uno que conozca.
service-nothing = { $host } no ofrece { $protocol }: corrige { $url } ({ $form ->
    [without] sin /v1
   *[with] con /v1
 }).
service-busy = { $host } está saturado y no respondió tras { $count ->
    [one] un intento
   *[other] { $count } intentos
 }: inténtalo más tarde.
service-trouble = { $host } tiene un problema propio y no respondió tras { $count ->
    [one] un intento
   *[other] { $count } intentos
 }: inténtalo más tarde.
service-refused = { $host } rechazó una petición a { $model }: { $words }
reading-service = El servicio de lectura { $name }
wiki-none = No hay ninguna API de MediaWiki en { $url }: revisa { $place }.
wiki-login = { $title } solo se puede leer tras iniciar sesión.
wiki-refused = { $title } no acepta la petición.
wiki-no-such = { $title } no tiene esa página.
wiki-no-page = { $site } no tiene ninguna página llamada «{ $page }».
wiki-no-article = { $url } no es un artículo de { $site }.
wiki-empty = La página «{ $page }» de { $site } no tiene texto.
proxy-unconnected = El proxy { $proxy } no conecta con { $host } ({ $why }): revísalo, así como HTTPS_PROXY, NO_PROXY y FOOTNOTE_CA_BUNDLE.
embeddings-quota = La cuota de la clave de { $key } se ha agotado: auméntala.
embeddings-unknown = { $title } no conoce la dirección o el modelo { $model }: revisa { $place } y FOOTNOTE_EMBEDDINGS_MODEL.
brave-rate = Brave no admite más peticiones en este segundo: inténtalo más tarde o pon en FOOTNOTE_BRAVE_RATE lo que permite el plan.
searxng-json = SearXNG no da resultados en JSON: añade json a search.formats en su settings.yml y reinícialo.
searxng-silent = SearXNG no encontró nada, y estos de sus motores no respondieron: { $names }. Revisa su estado o inténtalo más tarde.
service-toolless = { $model } no puede llamar a herramientas, y la investigación lo necesita: pon en FOOTNOTE_MODEL un modelo que pueda.
mcp-tool = Su herramienta { $tool } falló: { $words }
mcp-refused = Se negó: { $words }
mcp-odd = Envió un resultado que no tiene la forma que declara.
mcp-credentials = No acepta nuestras credenciales (HTTP { $status }): corrigez headers u oauth en [[mcp]].
mcp-broke = La conexión con él se cortó: inténtalo más tarde.
mcp-command = El comando { $command } no se puede iniciar: corrígelo en [[mcp]].
mcp-away = No se puede contactar con él, o no habla el protocolo.
mcp-no-search = No tiene ninguna herramienta que busque: { $names }.
mcp-name-one = Indica una en `search` de [[mcp]].
browser-none = { $place } indica { $name }, que no es un programa de este equipo: instala Chromium o corrige el nombre.
browser-sandbox = Chromium no arranca aquí con su zona aislada: ejecuta { -brand } con un usuario que no sea root, donde se permitan los espacios de nombres de usuario, o, en un contenedor que no tenga nada más, pon { $setting }=off.
browser-dead = Chromium ({ $name }) no arranca: pruébalo a mano o corrige { $place }.
sso-issuer = FOOTNOTE_OIDC_ISSUER es { $given }, pero el proveedor se llama { $its }: pon ese valor.
sso-lacks = El documento de descubrimiento del proveedor OpenID no tiene un { $name } utilizable.
toml-invalid = { $path } no es TOML válido: { $why }. Corrígelo.
toml-unusable = Las colecciones o los servidores de { $path } no se pueden usar. `footnote doctor` dice qué está mal.
rights-gone = { $path }, con las colecciones, ha desaparecido: vuelve a ponerlo.
rights-twice = Las colecciones { $first } y { $second } tienen ambas la ruta { $path }: déjala en una sola.
rights-nowhere = La colección { $name } tiene la ruta { $path }, donde no hay ningún archivo ni carpeta: corrígela.
rights-outside = La colección { $name } tiene la ruta { $path }, fuera de los documentos en los que se busca ({ $docs }): corrígela o añádela a FOOTNOTE_DOCS.
