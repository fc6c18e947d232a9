package llm

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/abi"
)

//go:wasmimport hookbox:hooks/llm@0.2.0 complete
func hostComplete(hasModel uint32, model uintptr, modelLength uint32, hasSystem uint32, system uintptr, systemLength uint32, user uintptr, userLength uint32, hasTokens uint32, tokens uint32, result unsafe.Pointer)

func complete(prompt Prompt) (answer string, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		model, modelLength := abi.Lower(pins, prompt.Model)
		system, systemLength := abi.Lower(pins, prompt.System)
		user, userLength := abi.Lower(pins, prompt.User)
		hostComplete(
			has(prompt.Model != ""), model, modelLength,
			has(prompt.System != ""), system, systemLength,
			user, userLength,
			has(prompt.MaxTokens != 0), prompt.MaxTokens,
			result,
		)
	}, func(result abi.Memory) {
		if !result.Bool(0) {
			answer = result.String(4)
			return
		}
		switch result.Byte(4) {
		case 0:
			err = fmt.Errorf("%w: %s", ErrBudget, result.String(8))
		case 1:
			err = ErrTimeout
		default:
			err = fmt.Errorf("%w: %s", ErrFailed, result.String(8))
		}
	})
	return answer, err
}

func has(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}
