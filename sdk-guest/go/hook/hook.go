// Package hook has the types that all events share. A hook is a package main that passes a function to the package of
// each event that it handles:
//
//	package main
//
//	import (
//		"strings"
//
//		"github.com/hookbox/hookbox/sdk-guest/go/hook"
//		"github.com/hookbox/hookbox/sdk-guest/go/pretooluse"
//	)
//
//	func init() {
//		pretooluse.Handle(func(context hook.EventContext, call hook.ToolCall) (pretooluse.Output, error) {
//			if strings.Contains(call.Input.String("/command"), "rm -rf") {
//				return pretooluse.Deny("dangerous command"), nil
//			}
//			return pretooluse.Pass(), nil
//		})
//	}
//
//	func main() {}
//
// Exports are subscriptions: importing an event's package subscribes the hook to that event. Imports are the permission
// request: a capability that the hook calls (packages state, http, llm) must be granted. `hookbox build` creates the
// component.
//
// An error that a handler returns, or a panic, is a failure of the hook with its message. It is never an output.
package hook

import "fmt"

// Decision is the decision about an event. Each event's package has constructors for the decisions that it supports.
type Decision string

// The decisions. Pass, and the zero value, mean no decision.
const (
	Pass    Decision = "pass"
	Allow   Decision = "allow"
	Ask     Decision = "ask"
	Deny    Decision = "deny"
	Skip    Decision = "skip"
	Respond Decision = "respond"
	Block   Decision = "block"
)

// Halt says which part of the agent's work ends.
type Halt uint8

const (
	// NoHalt continues.
	NoHalt Halt = iota
	// HaltTurn ends this turn.
	HaltTurn
	// HaltSession ends the session or agent loop.
	HaltSession
)

// Effects is the part of an output that every event has.
type Effects struct {
	// Context is text added to the model's context. claude, blade: `additionalContext`; blade prompts:
	// `contextInjection`.
	Context string
	// SystemMessage is, under claude, injected into the conversation; codebuddy, blade: a warning for the user.
	SystemMessage string
	// SuppressOutput keeps this hook's output out of the transcript. claude, codebuddy, blade.
	SuppressOutput bool
	// Halt ends the turn or the session, and HaltReason is shown to the user.
	Halt       Halt
	HaltReason string
	// Extra is an object merged into the dialect's output, for fields that hookbox does not know.
	Extra JSON
}

// WithContext adds a line to the context.
func (e Effects) WithContext(text string) Effects {
	e.Context = addLine(e.Context, text)
	return e
}

// WithSystemMessage adds a line to the system message.
func (e Effects) WithSystemMessage(text string) Effects {
	e.SystemMessage = addLine(e.SystemMessage, text)
	return e
}

func addLine(text, line string) string {
	if text == "" {
		return line
	}
	return text + "\n" + line
}

// BadInputError is the error for an event of an unexpected form. Any other error is a failure of the hook itself.
type BadInputError struct{ Why string }

func (e *BadInputError) Error() string { return e.Why }

// BadInput creates a [BadInputError]: the event does not have the form that the hook expects.
func BadInput(format string, arguments ...any) error {
	return &BadInputError{Why: fmt.Sprintf(format, arguments...)}
}

// NewToolCall creates a call, for tests. The input is any value that marshals to JSON.
func NewToolCall(name string, input any) ToolCall {
	return ToolCall{Name: name, Input: JSONOf(input)}
}
