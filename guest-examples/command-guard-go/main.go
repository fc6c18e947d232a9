// Command-guard-go refuses shell commands that destroy files or devices, as command-guard does.
package main

import (
	"github.com/hookbox/hookbox/sdk-guest/go/hook"
	"github.com/hookbox/hookbox/sdk-guest/go/permissionrequest"
	"github.com/hookbox/hookbox/sdk-guest/go/pretooluse"
)

func init() {
	pretooluse.Handle(func(_ hook.EventContext, call hook.ToolCall) (pretooluse.Output, error) {
		if why := objection(call); why != "" {
			return pretooluse.Deny(why), nil
		}
		return pretooluse.Pass(), nil
	})
	// The same check for permission requests. Under picoclaw a failing hook denies in `approve_tool` but not in
	// `before_tool`.
	permissionrequest.Handle(func(_ hook.EventContext, call hook.ToolCall, _ permissionrequest.Event) (permissionrequest.Output, error) {
		if why := objection(call); why != "" {
			return permissionrequest.Deny(why), nil
		}
		return permissionrequest.Pass(), nil
	})
}

func main() {}

// objection checks the string `command` of any tool (Bash, exec, …).
func objection(call hook.ToolCall) string {
	if why := find(call.Input.String("/command"), nesting); why != "" {
		return why + " is not allowed here"
	}
	return ""
}
