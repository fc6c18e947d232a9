package event

import (
	"runtime"
	"unsafe"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/abi"
)

//go:wasmimport hookbox:hooks/event@0.2.0 raw
func hostRaw(result unsafe.Pointer)

func raw() (text string) {
	abi.Import(
		func(_ *runtime.Pinner, result unsafe.Pointer) { hostRaw(result) },
		func(result abi.Memory) { text = result.String(0) },
	)
	return text
}
