// Package llm has questions to the host's language model, within the hook's budget.
package llm

import "errors"

// Why a question was not answered.
var (
	// ErrBudget: the hook's calls or tokens are used up.
	ErrBudget = errors.New("llm: the budget is used up")
	// ErrTimeout: the hook's deadline came first.
	ErrTimeout = errors.New("llm: no answer in time")
	// ErrFailed: the model could not be asked.
	ErrFailed = errors.New("llm: failed")
)

// Prompt is a question.
type Prompt struct {
	// Model is the configured one when empty.
	Model string
	// System prompt, if any.
	System string
	User   string
	// MaxTokens of the answer; 0 leaves it to the host.
	MaxTokens uint32
}

// Complete asks and waits for the answer.
func Complete(prompt Prompt) (string, error) { return complete(prompt) }
