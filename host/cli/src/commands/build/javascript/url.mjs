// The engine has no URL classes.
import URL from "core-js-pure/actual/url";
import URLSearchParams from "core-js-pure/actual/url-search-params";

globalThis.URL = URL;
globalThis.URLSearchParams = URLSearchParams;
