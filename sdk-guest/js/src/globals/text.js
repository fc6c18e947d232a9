// TextEncoder and TextDecoder, for UTF-8.

globalThis.TextEncoder = class TextEncoder {
  encoding = "utf-8";

  encode(text = "") {
    const bytes = [];
    for (const character of String(text)) {
      let point = character.codePointAt(0);
      if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
      if (point < 0x80) bytes.push(point);
      else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(point));
      else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), tail(point >> 6), tail(point));
      else bytes.push(0xf0 | (point >> 18), tail(point >> 12), tail(point >> 6), tail(point));
    }
    return new Uint8Array(bytes);
  }
};

const tail = (point) => 0x80 | (point & 0x3f);

globalThis.TextDecoder = class TextDecoder {
  encoding = "utf-8";

  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) throw new RangeError(`only UTF-8 is decoded, not ${label}`);
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }

  decode(input = new Uint8Array()) {
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input);
    const text = [];
    for (let index = 0; index < bytes.length; ) {
      const { point, length } = read(bytes, index);
      if (point === undefined && this.fatal) throw new TypeError("the bytes are not UTF-8");
      text.push(String.fromCodePoint(point ?? 0xfffd));
      index += length;
    }
    if (!this.ignoreBOM && text[0] === "\ufeff") text.shift();
    return text.join("");
  }
};

/** Reads the character at an index. Without `point`, `length` is the length of an invalid sequence. */
function read(bytes, index) {
  const first = bytes[index];
  if (first < 0x80) return { point: first, length: 1 };
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4) return { length: 1 };
  // The range of the second byte excludes overlong sequences, surrogates and values that are too large.
  const low = { 0xe0: 0xa0, 0xf0: 0x90 }[first] ?? 0x80;
  const high = { 0xed: 0x9f, 0xf4: 0x8f }[first] ?? 0xbf;
  let point = first & (0x3f >> more);
  for (let at = 1; at <= more; at++) {
    const byte = bytes[index + at];
    if (!(byte >= (at === 1 ? low : 0x80) && byte <= (at === 1 ? high : 0xbf))) return { length: at };
    point = (point << 6) | (byte & 0x3f);
  }
  return { point, length: more + 1 };
}
