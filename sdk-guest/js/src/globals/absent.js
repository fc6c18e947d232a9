// What a hook cannot have says so, and what to use instead.

globalThis.fetch = () => {
  throw new TypeError("fetch: a hook has no sockets; use `http` of @hookbox/guest, one exchange at a time");
};
