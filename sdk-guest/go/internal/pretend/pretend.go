// Package pretend is the simulated host of a test: see package hooktest. It is empty in WebAssembly.
package pretend

import "errors"

// Log is one log message.
type Log struct{ Level, Message string }

// Host is a simulated host.
type Host struct {
	Config, Raw string
	State       map[string]string
	Logs        []Log
	HTTP        any // func(*http.Request) (*http.Response, error), of the SDK's package
	LLM         any // func(llm.Prompt) (string, error)
}

var current *Host

// Set replaces the current host and returns the previous one.
func Set(host *Host) *Host {
	before := current
	current = host
	return before
}

// Current returns the host of the test.
func Current() *Host {
	if current == nil {
		panic(errors.New("no host: call hooktest.New(t) first"))
	}
	return current
}
