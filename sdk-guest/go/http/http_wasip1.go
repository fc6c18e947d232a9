package http

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/abi"
)

//go:wasmimport hookbox:hooks/http@0.2.0 send
func hostSend(method uintptr, methodLength uint32, url uintptr, urlLength uint32, headers uintptr, headersLength uint32, hasBody uint32, body uintptr, bodyLength uint32, result unsafe.Pointer)

func send(request *Request) (response *Response, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		method, methodLength := abi.Lower(pins, request.Method)
		url, urlLength := abi.Lower(pins, request.URL)
		headers, headersLength := abi.LowerPairs(pins, request.Header)
		var hasBody, bodyLength uint32
		var body uintptr
		if request.Body != nil {
			hasBody = 1
			body, bodyLength = abi.Lower(pins, unsafe.String(unsafe.SliceData(request.Body), len(request.Body)))
		}
		hostSend(method, methodLength, url, urlLength, headers, headersLength, hasBody, body, bodyLength, result)
	}, func(result abi.Memory) {
		if !result.Bool(0) {
			response = &Response{Status: int(result.Uint16(4)), Header: result.Pairs(8), Body: result.Bytes(16)}
			return
		}
		switch result.Byte(4) {
		case 0:
			err = fmt.Errorf("%w: %s", ErrDenied, result.String(8))
		case 1:
			err = fmt.Errorf("%w: %s", ErrTooLarge, result.String(8))
		case 2:
			err = ErrTimeout
		default:
			err = fmt.Errorf("%w: %s", ErrFailed, result.String(8))
		}
	})
	return response, err
}
