import { host } from "./host.js";

export const get = () => JSON.stringify(host().config);
