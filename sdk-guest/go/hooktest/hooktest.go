//go:build !wasip1

// Package hooktest simulates the host, for testing hooks with plain `go test`:
//
//	func TestOnceIsEnough(t *testing.T) {
//		host := hooktest.New(t).SetConfig(map[string]any{"max": 1})
//		call := hook.NewToolCall("Bash", map[string]any{"command": "ls"})
//		output, err := limit(hook.EventContext{SessionID: "s"}, call)
//		hooktest.Equal(t, output, err, pretooluse.Pass())
//		if host.State["calls/s/Bash"] != "1" {
//			t.Error(host.State)
//		}
//	}
//
// There is one host at a time, so tests that use it must not run in parallel.
package hooktest

import (
	"encoding/json"
	"testing"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
	"github.com/hookbox/hookbox/sdk-guest/go/http"
	"github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"
	"github.com/hookbox/hookbox/sdk-guest/go/llm"
)

// Log is one log message: its level (debug, info, warn, error) and text.
type Log = pretend.Log

// Host is the simulated host.
type Host struct {
	// State has the keys and values of package state.
	State map[string]string
	host  *pretend.Host
}

// New returns the host of this test, without configuration, state, logs, network and model.
func New(t testing.TB) *Host {
	host := &pretend.Host{Config: "{}", Raw: "{}", State: map[string]string{}}
	before := pretend.Set(host)
	t.Cleanup(func() { pretend.Set(before) })
	return &Host{State: host.State, host: host}
}

// SetConfig sets the hook's configuration: any value that marshals to a JSON object.
func (h *Host) SetConfig(config any) *Host {
	h.host.Config = hook.JSONOf(config).String()
	return h
}

// SetRawEvent sets the event as the client sent it.
func (h *Host) SetRawEvent(event any) *Host {
	h.host.Raw = hook.JSONOf(event).String()
	return h
}

// OnHTTP sets the function that answers HTTP requests.
func (h *Host) OnHTTP(answer func(http.Request) (*http.Response, error)) *Host {
	h.host.HTTP = answer
	return h
}

// OnLLM sets the function that answers prompts.
func (h *Host) OnLLM(answer func(llm.Prompt) (string, error)) *Host {
	h.host.LLM = answer
	return h
}

// Logs returns the messages logged so far.
func (h *Host) Logs() []Log { return h.host.Logs }

// Equal fails the test unless the handler returned this output. Outputs are equal if their JSON values are equal.
func Equal(t testing.TB, output any, err error, expected any) {
	t.Helper()
	if err != nil {
		t.Errorf("failed: %v", err)
		return
	}
	if found, expected := text(output), text(expected); found != expected {
		t.Errorf("\n   found %s\nexpected %s", found, expected)
	}
}

func text(output any) string {
	text, err := json.Marshal(output)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
