// The console of a hookbox daemon. Everything that is shown comes from hooks and events of anybody: it is only ever text.
import { render } from "preact";
import "./app.css";
import { App } from "./app";

const root = document.getElementById("app");
if (root) render(<App />, root);
