// Package pretend is the host of a test: see package hooktest. There is nothing of it in WebAssembly.
package pretend

import "errors"

// Log is what was logged.
type Log struct{ Level, Message string }

// Host is a pretended host.
type Host struct {
	Config, Raw string
	State       map[string]string
	Logs        []Log
	HTTP        any // func(*http.Request) (*http.Response, error), of the SDK's package
	LLM         any // func(llm.Prompt) (string, error)
}

var current *Host

// Set is the host from now on; it returns the one before.
func Set(host *Host) *Host {
	before := current
	current = host
	return before
}

// Current is the host of the test.
func Current() *Host {
	if current == nil {
		panic(errors.New("no host: call hooktest.New(t) first"))
	}
	return current
}
