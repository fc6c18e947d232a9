import { raw } from "#host/event";

export const rawEvent = () => JSON.parse(raw());
