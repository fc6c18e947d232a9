package main

import "strings"

// command is one simple command: its unquoted words, and the targets of its output redirections.
type command struct{ words, targets []string }

// Maximum nesting of substitutions. It is enough for people and uses little stack.
const substitutions = 32

// parse returns the simple commands of a text, including those inside `$(…)` and backticks. Text that could be a
// command counts as one. An unterminated quotation ends with the text. why is a reason to refuse the whole text.
func parse(text string) (commands []command, why string) {
	// `$IFS` is a common replacement for a blank.
	text = strings.NewReplacer("${IFS}", " ", "$IFS", " ").Replace(text)
	parser := parser{text: text}
	why = parser.list(0, substitutions)
	return parser.commands, why
}

// parser reads bytes, because all special characters of a shell are single bytes.
type parser struct {
	text     string
	commands []command
}

// draft is a command that is being read.
type draft struct {
	command
	word   []byte
	inWord bool
	next   next
}

// next is the meaning of the next word.
type next int

const (
	word next = iota
	target
	// The source that a command reads from.
	source
)

func (d *draft) push(c byte) {
	d.inWord = true
	d.word = append(d.word, c)
}

func (d *draft) endWord() {
	if !d.inWord {
		return
	}
	switch d.next {
	case word:
		d.words = append(d.words, string(d.word))
	case target:
		d.targets = append(d.targets, string(d.word))
	}
	d.word, d.inWord, d.next = nil, false, word
}

func (d *draft) endCommand(commands *[]command) {
	d.endWord()
	*commands = append(*commands, d.command)
	*d = draft{}
}

// read returns the next byte, or 0 at the end of the text.
func (p *parser) read() byte {
	if p.text == "" {
		return 0
	}
	c := p.text[0]
	p.text = p.text[1:]
	return c
}

func (p *parser) startsWith(set string) bool {
	return p.text != "" && strings.IndexByte(set, p.text[0]) >= 0
}

func (p *parser) skip(set string) {
	for p.startsWith(set) {
		p.read()
	}
}

// list reads commands up to a closing character, or to the end of the text.
func (p *parser) list(end byte, depth int) string {
	if depth == 0 {
		return "a command inside so many others"
	}
	depth--
	var d draft
	for p.text != "" {
		c := p.read()
		switch {
		case end != 0 && c == end:
			d.endCommand(&p.commands)
			return ""
		case c == '&' && p.startsWith(">"):
			// `&>` redirects; any other `&` ends a command.
			d.endWord()
		case strings.IndexByte("\n;&|()", c) >= 0:
			d.endCommand(&p.commands)
		case c == ' ' || c == '\t' || c == '\r':
			d.endWord()
		case c == '#' && !d.inWord:
			for p.text != "" && p.text[0] != '\n' {
				p.read()
			}
		case c == '>':
			// The number in `2>` is a file descriptor and not an argument.
			if d.inWord && strings.Trim(string(d.word), "0123456789") == "" {
				d.word, d.inWord = nil, false
			}
			d.endWord()
			p.skip(">|&")
			d.next = target
		case c == '<':
			d.endWord()
			p.skip("<-&")
			d.next = source
		case c == '\\':
			if p.text != "" {
				if escaped := p.read(); escaped != '\n' {
					d.push(escaped)
				}
			}
		case c == '\'':
			d.inWord = true
			for p.text != "" {
				if c := p.read(); c == '\'' {
					break
				} else {
					d.push(c)
				}
			}
		case c == '"':
			if why := p.quoted(&d, depth); why != "" {
				return why
			}
		default:
			if why := p.plainOrSubstitution(c, &d, depth); why != "" {
				return why
			}
		}
	}
	d.endCommand(&p.commands)
	return ""
}

// quoted reads to the closing double quote.
func (p *parser) quoted(d *draft, depth int) string {
	d.inWord = true
	for p.text != "" {
		switch c := p.read(); c {
		case '"':
			return ""
		case '\\':
			if p.text == "" {
				return ""
			}
			escaped := p.read()
			if strings.IndexByte("\"\\$`\n", escaped) < 0 {
				d.push('\\')
			}
			if escaped != '\n' {
				d.push(escaped)
			}
		default:
			if why := p.plainOrSubstitution(c, d, depth); why != "" {
				return why
			}
		}
	}
	return ""
}

// plainOrSubstitution reads a substitution. Its result is unknown, but the commands that produce it are checked.
func (p *parser) plainOrSubstitution(c byte, d *draft, depth int) string {
	switch {
	case c == '`':
		return p.list('`', depth)
	case c == '$' && p.startsWith("("):
		p.read()
		return p.list(')', depth)
	}
	d.push(c)
	return ""
}
