package hook

import (
	"errors"
	"testing"
)

func TestAPlainNameIsAMember(t *testing.T) {
	json := Text(`{"command": "ls", "a/b": true, "list": [1, 9007199254740993], "~": "tilde"}`)
	if json.String("command") != "ls" || json.String("/command") != "ls" {
		t.Error("command")
	}
	if !json.Bool("a/b") || !json.Bool("/a~1b") || json.String("/~0") != "tilde" {
		t.Error("escapes")
	}
	if number, ok := json.Int("/list/1"); !ok || number != 9007199254740993 {
		t.Error("all digits of a number", number)
	}
	for _, pointer := range []string{"/list/2", "/list/01", "/list/-", "/command/x", "/missing"} {
		if value, ok := json.Lookup(pointer); ok {
			t.Error(pointer, value)
		}
	}
}

func TestWithKeepsEverythingElse(t *testing.T) {
	for _, test := range []struct{ text, pointer, value, expect string }{
		{`{ "z": 1.10, "b": 1, "a": [] }`, "/b", "2", `{ "z": 1.10, "b": "2", "a": [] }`},
		{`{ "z": 1 }`, "/x/y", "new", `{ "z": 1 ,"x":{"y":"new"}}`},
		{`{}`, "x", "<&>", `{"x":"<&>"}`},
		{`[1, {"a": 2}]`, "/1/a", "x", `[1, {"a": "x"}]`},
		{`null`, "/a", "x", `{"a":"x"}`},
		{`{"a":1,"a":2}`, "/a", "x", `{"a":1,"a":"x"}`},
		{`7`, "", "x", `"x"`},
	} {
		if found := Text(test.text).With(test.pointer, test.value).String(); found != test.expect {
			t.Errorf("%s with %s: %s", test.text, test.pointer, found)
		}
	}
	if found := (JSON{}).With("/a", 1).String(); found != `{"a":1}` {
		t.Error(found)
	}
}

func TestWhatIsNoJSONPanicsOnceItIsLookedAt(t *testing.T) {
	defer func() {
		var bad *BadInputError
		if err, ok := recover().(error); !ok || !errors.As(err, &bad) {
			t.Error("no bad input")
		}
	}()
	json := Text(`{"command":`)
	_ = json.String()
	json.String("/command")
}

func TestWithPanicsWhereNothingFits(t *testing.T) {
	for _, pointer := range []string{"/a/b", "/list/1"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error(pointer)
				}
			}()
			Text(`{"a": "text", "list": [0]}`).With(pointer, 1)
		}()
	}
}

func TestUnmarshalSaysWhatDoesNotFit(t *testing.T) {
	var into struct{ Command string }
	if err := Text(`{"command": "ls"}`).Unmarshal(&into); err != nil || into.Command != "ls" {
		t.Error(err, into)
	}
	var bad *BadInputError
	if err := Text(`{"command": 1}`).Unmarshal(&into); !errors.As(err, &bad) {
		t.Error(err)
	}
}
