package abi

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
)

// Buffer for an incomplete line of stdout or stderr: Go writes a panic's text in pieces.
var line [4 << 10]byte

//go:wasmimport wasi_snapshot_preview1 hookbox_line_buffer
func lineBuffer(p *[4 << 10]byte, size int32)

//go:wasmimport wasi_snapshot_preview1 hookbox_flush
func flush()

// Answer runs a handler. It converts an error or a panic to the contract's fault, whose layout begins at payload.
func Answer(result Memory, payload uintptr, handled bool, handle func() error) {
	lineBuffer(&line, int32(len(line)))
	defer flush()
	reseed()
	err := errors.New("the hook imports this event's package and sets no handler: call its Handle in `func init`")
	if handled {
		err = recovered(handle)
	}
	if err == nil {
		return
	}
	var bad *hook.BadInputError
	result.PutByte(0, 1)
	if errors.As(err, &bad) {
		result.PutByte(payload, 0)
	} else {
		result.PutByte(payload, 1)
	}
	result.PutString(payload+4, err.Error()+advice(err))
}

// advice names the alternative when a handler tries to connect with package net. It compares the errors' type names,
// because importing the package would add it to every hook.
func advice(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		switch fmt.Sprintf("%T", err) {
		case "*net.OpError", "*net.DNSError":
			return " (a hook has no sockets: package http of the SDK sends requests)"
		}
	}
	return ""
}

func recovered(handle func() error) (err error) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case *hook.BadInputError:
			err = fmt.Errorf("%w%s", why, author())
		case error:
			err = fmt.Errorf("panic: %w%s", why, author())
		default:
			err = fmt.Errorf("panic: %v%s", why, author())
		}
	}()
	return handle()
}

// author returns the innermost line of the author's code that panics, such as " (main.go:12)". A build with trimmed
// paths names files by their module: files in or below package main are the author's.
func author() string {
	var stack [64]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(1, stack[:])])
	var all []runtime.Frame
	folder := ""
	for {
		frame, more := frames.Next()
		all = append(all, frame)
		if folder == "" && strings.HasPrefix(frame.Function, "main.") {
			folder = path.Dir(frame.File) + "/"
		}
		if !more {
			break
		}
	}
	for _, frame := range all {
		if file, ok := strings.CutPrefix(frame.File, folder); ok && folder != "" && !strings.HasPrefix(file, "hookbox-sdk/") {
			return fmt.Sprintf(" (%s:%d)", file, frame.Line)
		}
	}
	return ""
}

// NoSuchDecision panics because the event does not support the decision.
func NoSuchDecision(event, decision string) {
	panic(fmt.Sprintf("%s has no decision %q", event, decision))
}
