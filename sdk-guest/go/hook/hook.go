// Package hook has what all events share. A hook is a package main that hands a function to the package of each event
// it handles:
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
// request: the capabilities that are called (packages state, http, llm) have to be granted. `hookbox build` makes the
// component.
//
// An error that a handler returns, or a panic, is the hook's failure with its message; it is never an output.
package hook

import "fmt"

// Decision is what is decided about an event. Each event's package has constructors for those that make sense there.
type Decision string

// The decisions. The zero value, and Pass, is nothing to say.
const (
	Pass    Decision = "pass"
	Allow   Decision = "allow"
	Ask     Decision = "ask"
	Deny    Decision = "deny"
	Skip    Decision = "skip"
	Respond Decision = "respond"
	Block   Decision = "block"
)

// Halt is how far the end of the work reaches.
type Halt uint8

const (
	// NoHalt goes on.
	NoHalt Halt = iota
	// HaltTurn ends this turn.
	HaltTurn
	// HaltSession ends the session or agent loop.
	HaltSession
)

// Effects is what a hook may say about any event.
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

// BadInputError is the error of a hook that the event is not made for. Any other error is a failure of the hook itself.
type BadInputError struct{ Why string }

func (e *BadInputError) Error() string { return e.Why }

// BadInput says that the event is not of the form this hook reads.
func BadInput(format string, arguments ...any) error {
	return &BadInputError{Why: fmt.Sprintf(format, arguments...)}
}

// NewToolCall is a call as a test makes it; input is anything that marshals to JSON.
func NewToolCall(name string, input any) ToolCall {
	return ToolCall{Name: name, Input: JSONOf(input)}
}
