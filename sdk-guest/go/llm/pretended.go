//go:build !wasip1

package llm

import (
	"fmt"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"
)

func complete(prompt Prompt) (string, error) {
	answer, ok := pretend.Current().LLM.(func(Prompt) (string, error))
	if !ok {
		return "", fmt.Errorf("%w: the test answers no prompts, see OnLLM", ErrFailed)
	}
	return answer(prompt)
}
