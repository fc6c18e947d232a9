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
	// The same gate where the user would be asked: under picoclaw `approve_tool` holds when a hook fails, `before_tool`
	// does not.
	permissionrequest.Handle(func(_ hook.EventContext, call hook.ToolCall, _ permissionrequest.Event) (permissionrequest.Output, error) {
		if why := objection(call); why != "" {
			return permissionrequest.Deny(why), nil
		}
		return permissionrequest.Pass(), nil
	})
}

func main() {}

// objection looks at `command`, whatever the tool is called (Bash, exec, …).
func objection(call hook.ToolCall) string {
	if why := find(call.Input.String("/command"), nesting); why != "" {
		return why + " is not allowed here"
	}
	return ""
}
