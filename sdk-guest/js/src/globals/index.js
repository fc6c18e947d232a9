// What authors expect of JavaScript and the language alone does not have. In Node this is not needed and not loaded.
import "./loop.js";
import "./random.js";
import "./text.js";
import "./console.js";
import "./clone.js";
import "./absent.js";
