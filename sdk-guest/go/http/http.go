// Package http has HTTP exchanges with the hosts on the hook's allow-list.
//
// The standard library's net/http finds no network in a hook: there are no sockets. This is one exchange, policed by the
// host.
package http

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
)

// Why an exchange failed. An error status is not a failure: see [Response.Status].
var (
	// ErrDenied: not on the allow-list, a private address, or a redirect that leaves the list.
	ErrDenied = errors.New("http: denied")
	// ErrTooLarge: the request or the response is larger than granted.
	ErrTooLarge = errors.New("http: too large")
	// ErrTimeout: the hook's deadline came first.
	ErrTimeout = errors.New("http: no answer in time")
	// ErrFailed: no connection, broken exchange, malformed request.
	ErrFailed = errors.New("http: failed")
)

// Request is what to send.
type Request struct {
	// Method is for example GET.
	Method string
	// URL is absolute, http or https.
	URL string
	// Header has names and values; a name may be there more than once.
	Header [][2]string
	// Body is sent unless it is nil.
	Body []byte
}

// Response is what came back.
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

// OK is a status from 200 to 299.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status < 300 }

// Get is the first header of this name, whatever its case, or empty.
func (r *Response) Get(name string) string {
	for _, header := range r.Header {
		if strings.EqualFold(header[0], name) {
			return header[1]
		}
	}
	return ""
}

// JSON is the body as JSON.
func (r *Response) JSON() hook.JSON { return hook.Text(string(r.Body)) }
