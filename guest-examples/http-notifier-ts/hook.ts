// Notifies a web hook (Slack, ntfy or another one) when the agent waits for its user or has finished.
import { HttpError, type EventContext, type OnNotification, type OnStop, config, http, log } from "@hookbox/guest";

/** The hook's `config`. */
interface Settings {
  /** URL to which the message is posted, as JSON with a `text`. */
  url: string;
  /** Kinds of notifications to send. Empty means all. */
  kinds: string[];
}

export const onNotification: OnNotification = (event, context) => {
  const { kinds } = settings();
  const kind = event.notificationType;
  if (kinds.length === 0 || (kind !== undefined && kinds.includes(kind))) {
    tell(context, [event.title, event.message].filter(Boolean).join(": ") || "The agent has something to say");
  }
};

export const onStop: OnStop = (event, context) => {
  if (!event.stopHookActive) tell(context, event.finalResponse ?? "The agent is done");
};

function settings(): Settings {
  const written = config.get<Settings>({ url: "", kinds: [] });
  if (written.url === "") throw new Error("configuration: `url` is missing");
  return written;
}

/** Sends a message. A failure must not stop the agent. */
function tell(context: EventContext, text: string): void {
  const project = context.cwd?.split("/").pop();
  try {
    const response = http.postJson(settings().url, { text: project === undefined ? text : `${project}: ${text}` });
    if (!response.ok) log.warn(`the message was not taken: ${response.status}`);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    log.warn(`the message was not sent: ${error.message}`);
  }
}
