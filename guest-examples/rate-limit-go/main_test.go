package main

import (
	"testing"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
	"github.com/hookbox/hookbox/sdk-guest/go/hooktest"
	"github.com/hookbox/hookbox/sdk-guest/go/pretooluse"
)

func expect(t *testing.T, session, tool string, expected pretooluse.Output) {
	t.Helper()
	output, err := limit(hook.EventContext{SessionID: session}, hook.NewToolCall(tool, nil))
	hooktest.Equal(t, output, err, expected)
}

func TestCallsBeyondTheLimitAreSkipped(t *testing.T) {
	host := hooktest.New(t).SetConfig(map[string]any{"max": 1, "tools": map[string]any{"WebFetch": 0}})
	expect(t, "a", "Bash", pretooluse.Pass())
	expect(t, "b", "Bash", pretooluse.Pass())
	expect(t, "a", "Bash", pretooluse.Skip("Bash is limited to 1 calls in 1m0s"))
	expect(t, "a", "WebFetch", pretooluse.Skip("WebFetch is limited to 0 calls in 1m0s"))
	if host.State["calls/a/Bash"] != "2" {
		t.Error(host.State)
	}
}

func TestABrokenCountIsAFailureAndNoOutput(t *testing.T) {
	hooktest.New(t).State["calls/s/Bash"] = "many"
	if output, err := limit(hook.EventContext{SessionID: "s"}, hook.NewToolCall("Bash", nil)); err == nil {
		t.Error(output)
	}
}

func TestAMisspeltSettingIsAFailure(t *testing.T) {
	hooktest.New(t).SetConfig(map[string]any{"maximum": 1})
	if output, err := limit(hook.EventContext{}, hook.NewToolCall("Bash", nil)); err == nil {
		t.Error(output)
	}
}
