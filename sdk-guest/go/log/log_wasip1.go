package log

import (
	"runtime"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/abi"
)

//go:wasmimport hookbox:hooks/log@0.2.0 log
func hostLog(level uint32, p uintptr, length uint32)

func send(level uint8, message string) {
	var pins runtime.Pinner
	defer pins.Unpin()
	p, length := abi.Lower(&pins, message)
	hostLog(uint32(level), p, length)
}
