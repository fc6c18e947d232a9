// Package http sends HTTP requests to the hosts on the hook's allow-list.
//
// The standard library's net/http does not work in a hook, because a hook has no sockets. Here the host sends the
// request and applies the grant.
package http

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
)

// Errors of an exchange. An error status is not an error: see [Response.Status].
var (
	// ErrDenied: not on the allow-list, a private address, or a redirect that leaves the list.
	ErrDenied = errors.New("http: denied")
	// ErrTooLarge: the request or the response is larger than granted.
	ErrTooLarge = errors.New("http: too large")
	// ErrTimeout: the hook's deadline passed.
	ErrTimeout = errors.New("http: no answer in time")
	// ErrFailed: no connection, broken exchange or malformed request.
	ErrFailed = errors.New("http: failed")
)

// Request is an HTTP request.
type Request struct {
	// Method is for example GET.
	Method string
	// URL is absolute, http or https.
	URL string
	// Header has names and values. A name may occur more than once.
	Header [][2]string
	// Body is sent unless it is nil.
	Body []byte
}

// Response is an HTTP response.
type Response struct {
	Status int
	Header [][2]string
	Body   []byte
}

// Send sends a request and waits for the response.
func Send(request Request) (*Response, error) { return send(&request) }

// Get gets a URL.
func Get(url string) (*Response, error) { return Send(Request{Method: "GET", URL: url}) }

// PostJSON posts anything that marshals to JSON.
func PostJSON(url string, value any) (*Response, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return Send(Request{Method: "POST", URL: url, Header: [][2]string{{"content-type", "application/json"}}, Body: body})
}

// OK reports whether the status is from 200 to 299.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status < 300 }

// Get returns the first header with this name, or "". Case does not matter.
func (r *Response) Get(name string) string {
	for _, header := range r.Header {
		if strings.EqualFold(header[0], name) {
			return header[1]
		}
	}
	return ""
}

// JSON returns the body as JSON.
func (r *Response) JSON() hook.JSON { return hook.Text(string(r.Body)) }
