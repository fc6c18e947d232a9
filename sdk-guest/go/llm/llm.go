// Package llm sends requests to the host's language model, within the hook's budget.
package llm

import "errors"

// Errors of a request.
var (
	// ErrBudget: the hook has used up its calls or tokens.
	ErrBudget = errors.New("llm: the budget is used up")
	// ErrTimeout: the hook's deadline passed.
	ErrTimeout = errors.New("llm: no answer in time")
	// ErrFailed: the request could not be sent.
	ErrFailed = errors.New("llm: failed")
)

// Prompt is a request to the model.
type Prompt struct {
	// Model name. Empty: the configured model.
	Model string
	// System prompt, if any.
	System string
	User   string
	// MaxTokens limits the answer. 0: the host decides.
	MaxTokens uint32
}

// Complete sends the request and waits for the answer.
func Complete(prompt Prompt) (string, error) { return complete(prompt) }
