//go:build !wasip1

package http

import (
	"fmt"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"
)

func send(request *Request) (*Response, error) {
	answer, ok := pretend.Current().HTTP.(func(Request) (*Response, error))
	if !ok {
		return nil, fmt.Errorf("%w: the test answers no requests, see OnHTTP", ErrDenied)
	}
	return answer(*request)
}
