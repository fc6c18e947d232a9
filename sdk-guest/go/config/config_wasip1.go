package config

import (
	"runtime"
	"unsafe"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/abi"
)

//go:wasmimport hookbox:hooks/config@0.2.0 get
func hostGet(result unsafe.Pointer)

func get() (text string) {
	abi.Import(
		func(_ *runtime.Pinner, result unsafe.Pointer) { hostGet(result) },
		func(result abi.Memory) { text = result.String(0) },
	)
	return text
}
