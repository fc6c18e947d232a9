import { host } from "./host.js";

export const raw = () => JSON.stringify(host().rawEvent);
