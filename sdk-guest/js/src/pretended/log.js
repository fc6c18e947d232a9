import { host } from "./host.js";

export const log = (level, message) => void host().logs.push({ level, message });
