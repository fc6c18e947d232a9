// A parser for the part of the shell's grammar that separates commands and arguments.

/** Maximum nesting of substitutions. It is enough for people and uses little stack. */
const SUBSTITUTIONS = 32;

/** Error for a text that is refused as a whole. */
export class Refused extends Error {}

/**
 * Returns the simple commands of a text, including those inside `$(…)` and backticks: their unquoted words, and the
 * targets of their output redirections. Text that could be a command counts as one. An unterminated quotation ends with
 * the text.
 * @param {string} text
 */
export function parse(text) {
  // `$IFS` is a common replacement for a blank.
  const parser = new Parser(text.replaceAll("${IFS}", " ").replaceAll("$IFS", " "));
  parser.list(undefined, SUBSTITUTIONS);
  return parser.commands;
}

class Draft {
  words = [];
  targets = [];
  word = "";
  inWord = false;
  /** The meaning of the next word: a word, a redirection target, or the source that a command reads from. */
  next = "words";

  push(character) {
    this.inWord = true;
    this.word += character;
  }

  endWord() {
    if (!this.inWord) return;
    if (this.next !== "source") this[this.next].push(this.word);
    [this.word, this.inWord, this.next] = ["", false, "words"];
  }
}

class Parser {
  commands = [];
  #text;
  #at = 0;

  constructor(text) {
    this.#text = text;
  }

  #more() {
    return this.#at < this.#text.length;
  }

  #read() {
    return this.#text[this.#at++];
  }

  #startsWith(set) {
    return this.#more() && set.includes(this.#text[this.#at]);
  }

  #skip(set) {
    while (this.#startsWith(set)) this.#at++;
  }

  #end(draft) {
    draft.endWord();
    this.commands.push(draft);
    return new Draft();
  }

  /** Reads commands up to a closing character, or to the end of the text. */
  list(end, depth) {
    if (depth === 0) throw new Refused("a command inside so many others");
    let draft = new Draft();
    while (this.#more()) {
      const c = this.#read();
      if (c === end) return void this.#end(draft);
      // `&>` redirects; any other `&` ends a command.
      else if (c === "&" && this.#startsWith(">")) draft.endWord();
      else if ("\n;&|()".includes(c)) draft = this.#end(draft);
      else if (" \t\r".includes(c)) draft.endWord();
      else if (c === "#" && !draft.inWord) while (this.#more() && !this.#startsWith("\n")) this.#at++;
      else if (c === ">") {
        // The number in `2>` is a file descriptor and not an argument.
        if (draft.inWord && /^[0-9]*$/.test(draft.word)) [draft.word, draft.inWord] = ["", false];
        draft.endWord();
        this.#skip(">|&");
        draft.next = "targets";
      } else if (c === "<") {
        draft.endWord();
        this.#skip("<-&");
        draft.next = "source";
      } else if (c === "\\") {
        const escaped = this.#read();
        if (escaped !== undefined && escaped !== "\n") draft.push(escaped);
      } else if (c === "'") {
        draft.inWord = true;
        for (let quoted = this.#read(); quoted !== undefined && quoted !== "'"; quoted = this.#read()) draft.push(quoted);
      } else if (c === '"') this.#quoted(draft, depth - 1);
      else this.#plainOrSubstitution(c, draft, depth - 1);
    }
    this.#end(draft);
  }

  /** Reads to the closing double quote. */
  #quoted(draft, depth) {
    draft.inWord = true;
    while (this.#more()) {
      const c = this.#read();
      if (c === '"') return;
      if (c === "\\") {
        const escaped = this.#read();
        if (escaped === undefined) return;
        if (!'"\\$`\n'.includes(escaped)) draft.push("\\");
        if (escaped !== "\n") draft.push(escaped);
      } else this.#plainOrSubstitution(c, draft, depth);
    }
  }

  /** Reads a substitution. Its result is unknown, but the commands that produce it are checked. */
  #plainOrSubstitution(c, draft, depth) {
    if (c === "`") this.list("`", depth);
    else if (c === "$" && this.#startsWith("(")) {
      this.#at++;
      this.list(")", depth);
    } else draft.push(c);
  }
}
