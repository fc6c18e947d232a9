// Standard globals that the engine lacks. Node has them and does not load these files.
import "./loop.js";
import "./random.js";
import "./text.js";
import "./console.js";
import "./clone.js";
import "./absent.js";
