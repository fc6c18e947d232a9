// Functions that hooks do not have. Their errors name the alternative.

globalThis.fetch = () => {
  throw new TypeError("fetch: a hook has no sockets; use `http` of @hookbox/guest, one exchange at a time");
};
