package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// JSON is a JSON text, read by JSON pointer (RFC 6901). The plain name of a member works as well: "command" is the same
// as "/command". So a forgotten slash cannot make a guard miss a value.
//
// The text is parsed at the first access: a hook that decides by the tool's name alone does not pay for a large input.
// Reading a text that is not JSON panics, and the call ends as a failure. The zero value is absent.
type JSON struct{ text *document }

type document struct {
	text   string
	parsed bool
	value  any
}

// Text returns the JSON in a text. An empty text is absent.
func Text(text string) JSON {
	if text == "" {
		return JSON{}
	}
	return JSON{&document{text: text}}
}

// JSONOf returns the JSON of a value. It panics if the value has none, such as a function or a channel.
func JSONOf(value any) JSON {
	if value, ok := value.(JSON); ok {
		return value
	}
	text, err := marshal(value)
	if err != nil {
		panic(fmt.Errorf("no JSON: %w", err))
	}
	return Text(text)
}

// marshal does not escape `<`, `>` and `&`, because no browser reads the text.
func marshal(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// IsAbsent reports whether there is no JSON, which differs from null.
func (j JSON) IsAbsent() bool { return j.text == nil }

// String returns the string at a pointer, or "" if it is missing. Without a pointer it returns the whole JSON text.
func (j JSON) String(pointer ...string) string {
	if len(pointer) == 0 {
		if j.text == nil {
			return ""
		}
		return j.text.text
	}
	value, _ := j.Lookup(pointer[0])
	text, _ := value.(string)
	return text
}

// Bool returns the boolean at a pointer, or false if it is missing.
func (j JSON) Bool(pointer string) bool {
	value, _ := j.Lookup(pointer)
	is, _ := value.(bool)
	return is
}

// Int returns the whole number at a pointer; ok is false if it is missing.
func (j JSON) Int(pointer string) (number int64, ok bool) {
	value, _ := j.Lookup(pointer)
	text, is := value.(json.Number)
	if !is {
		return 0, false
	}
	number, err := strconv.ParseInt(text.String(), 10, 64)
	return number, err == nil
}

// Lookup returns the value at a pointer: nil, bool, json.Number, string, []any or map[string]any. "" is the whole
// value.
func (j JSON) Lookup(pointer string) (value any, ok bool) {
	if j.text == nil {
		return nil, false
	}
	value = j.text.get()
	for _, step := range steps(pointer) {
		switch holder := value.(type) {
		case map[string]any:
			if value, ok = holder[step]; !ok {
				return nil, false
			}
		case []any:
			index, ok := index(step, len(holder))
			if !ok {
				return nil, false
			}
			value = holder[index]
		default:
			return nil, false
		}
	}
	return value, true
}

// Unmarshal reads the JSON into a value of the hook. It returns a [BadInputError] if the JSON does not fit.
func (j JSON) Unmarshal(into any) error {
	if err := json.Unmarshal([]byte(j.String()), into); err != nil {
		return &BadInputError{Why: err.Error()}
	}
	return nil
}

// UnmarshalJSON and MarshalJSON let JSON be a field of other JSON values.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = Text(string(text))
	return nil
}

// MarshalJSON returns the text itself, and null if it is absent.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.text == nil {
		return []byte("null"), nil
	}
	return []byte(j.text.text), nil
}

// With returns a copy with one value replaced or added. Everything else stays unchanged, byte for byte. Missing objects
// on the path are created. It panics if the path leads into a value that cannot have members, such as a string.
func (j JSON) With(pointer string, value any) JSON {
	text, err := put(j.String(), steps(pointer), JSONOf(value).String())
	if err != nil {
		panic(&BadInputError{Why: fmt.Sprintf("nothing can be put at `%s`: %v", pointer, err)})
	}
	return Text(text)
}

func (d *document) get() any {
	if !d.parsed {
		decoder := json.NewDecoder(strings.NewReader(d.text))
		// Numbers keep all their digits.
		decoder.UseNumber()
		if err := decoder.Decode(&d.value); err != nil {
			panic(&BadInputError{Why: err.Error()})
		}
		d.parsed = true
	}
	return d.value
}

// steps splits a pointer, or a plain member name, into member names and indices.
func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return []string{pointer}
	}
	steps := strings.Split(rest, "/")
	for i, step := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	}
	return steps
}

func index(step string, length int) (int, bool) {
	index, err := strconv.Atoi(step)
	return index, err == nil && index >= 0 && index < length && strconv.Itoa(index) == step
}

// put replaces the value at the steps in a JSON text.
func put(text string, steps []string, value string) (string, error) {
	if len(steps) == 0 {
		return value, nil
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "" || trimmed == "null":
		inner, err := put("", steps[1:], value)
		name, _ := marshal(steps[0])
		return "{" + name + ":" + inner + "}", err
	case trimmed[0] == '{' || trimmed[0] == '[':
		return putInside(text, steps, value)
	default:
		return "", errors.New("it is neither an object nor an array")
	}
}

func putInside(text string, steps []string, value string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	open, err := decoder.Token()
	if err != nil {
		return "", err
	}
	object := open == json.Delim('{')
	found, start, end, empty := false, 0, 0, true
	for i := 0; decoder.More(); i++ {
		empty = false
		here := strconv.Itoa(i) == steps[0]
		if object {
			name, err := decoder.Token()
			if err != nil {
				return "", err
			}
			here = name == steps[0]
		}
		var member json.RawMessage
		if err := decoder.Decode(&member); err != nil {
			return "", err
		}
		// If members have the same name the last one counts, as everywhere in hookbox.
		if here {
			found, end = true, int(decoder.InputOffset())
			start = end - len(member)
		}
	}
	if found {
		inner, err := put(text[start:end], steps[1:], value)
		return text[:start] + inner + text[end:], err
	}
	if !object {
		return "", errors.New("the array has no such element")
	}
	inner, err := put("", steps[1:], value)
	if err != nil {
		return "", err
	}
	name, _ := marshal(steps[0])
	at := int(decoder.InputOffset())
	comma := ","
	if empty {
		comma = ""
	}
	return text[:at] + comma + name + ":" + inner + text[at:], nil
}
