// The hook of tests/sdk: see the README there.
package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookbox/hookbox/sdk-guest/go/afterllm"
	"github.com/hookbox/hookbox/sdk-guest/go/agentevent"
	"github.com/hookbox/hookbox/sdk-guest/go/beforellm"
	"github.com/hookbox/hookbox/sdk-guest/go/canusetool"
	"github.com/hookbox/hookbox/sdk-guest/go/config"
	"github.com/hookbox/hookbox/sdk-guest/go/event"
	"github.com/hookbox/hookbox/sdk-guest/go/hook"
	"github.com/hookbox/hookbox/sdk-guest/go/http"
	"github.com/hookbox/hookbox/sdk-guest/go/llm"
	"github.com/hookbox/hookbox/sdk-guest/go/log"
	"github.com/hookbox/hookbox/sdk-guest/go/notification"
	"github.com/hookbox/hookbox/sdk-guest/go/otherevent"
	"github.com/hookbox/hookbox/sdk-guest/go/permissionrequest"
	"github.com/hookbox/hookbox/sdk-guest/go/posttooluse"
	"github.com/hookbox/hookbox/sdk-guest/go/posttoolusefailure"
	"github.com/hookbox/hookbox/sdk-guest/go/precompact"
	"github.com/hookbox/hookbox/sdk-guest/go/pretooluse"
	"github.com/hookbox/hookbox/sdk-guest/go/sessionend"
	"github.com/hookbox/hookbox/sdk-guest/go/sessionstart"
	"github.com/hookbox/hookbox/sdk-guest/go/state"
	"github.com/hookbox/hookbox/sdk-guest/go/stop"
	"github.com/hookbox/hookbox/sdk-guest/go/subagentstart"
	"github.com/hookbox/hookbox/sdk-guest/go/subagentstop"
	"github.com/hookbox/hookbox/sdk-guest/go/taskcompleted"
	"github.com/hookbox/hookbox/sdk-guest/go/userpromptsubmit"
)

func main() {}

type object = map[string]any

// fields joins what is there; a number that is not there is "-".
func fields(values ...any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = show(value)
	}
	return strings.Join(texts, "|")
}

func show(value any) string {
	switch value := value.(type) {
	case *uint32:
		if value != nil {
			return fmt.Sprint(*value)
		}
		return "-"
	case *uint64:
		if value != nil {
			return fmt.Sprint(*value)
		}
		return "-"
	case []string:
		return strings.Join(value, ",")
	}
	return fmt.Sprint(value)
}

func init() {
	pretooluse.Handle(tool)
	posttooluse.Handle(func(_ hook.EventContext, call hook.ToolCall, output posttooluse.ToolOutput) (posttooluse.Output, error) {
		switch call.Name {
		case "block":
			return posttooluse.Block("bad output"), nil
		case "rewrite":
			return posttooluse.Pass().WithOutput(call.Input), nil
		}
		return posttooluse.Pass().WithContext(fields(call.Name, output.Value.String("/stdout"), output.DurationNS)), nil
	})
	posttoolusefailure.Handle(func(_ hook.EventContext, call hook.ToolCall, f posttoolusefailure.Failure) (posttoolusefailure.Output, error) {
		return posttoolusefailure.Pass().WithContext(fields(call.Name, f.Error, f.ErrorType, f.IsInterrupt, f.IsTimeout)), nil
	})
	permissionrequest.Handle(func(_ hook.EventContext, call hook.ToolCall, e permissionrequest.Event) (permissionrequest.Output, error) {
		switch call.Name {
		case "allow":
			return permissionrequest.Allow().WithInput(object{"command": "ls -l"}).WithPermissions(e.Suggestions), nil
		case "ask":
			return permissionrequest.Ask("sure?"), nil
		case "interrupt":
			return permissionrequest.Deny("never").Interrupting(), nil
		case "deny":
			return permissionrequest.Deny("no"), nil
		}
		return permissionrequest.Pass(), nil
	})
	canusetool.Handle(func(_ hook.EventContext, call hook.ToolCall, e canusetool.Event) (canusetool.Output, error) {
		switch call.Name {
		case "allow":
			return canusetool.Allow().WithReason("fine").WithInput(object{"command": "ls -l"}), nil
		case "ask":
			return canusetool.Ask(""), nil
		case "interrupt":
			return canusetool.Deny("never").Interrupting(), nil
		}
		return canusetool.Deny(fields(e.ToolKind, e.AffectedPaths)), nil
	})
	userpromptsubmit.Handle(func(_ hook.EventContext, e userpromptsubmit.Event) (userpromptsubmit.Output, error) {
		switch e.Prompt {
		case "block":
			return userpromptsubmit.Block("not that"), nil
		case "rewrite":
			return userpromptsubmit.Pass().WithPrompt("rewritten"), nil
		}
		return userpromptsubmit.Pass().WithContext(fields(e.Prompt, e.HasImages, e.ImageCount)), nil
	})
	sessionstart.Handle(func(_ hook.EventContext, e sessionstart.Event) (sessionstart.Output, error) {
		context := fields(e.Source, e.IsResume, e.ResumeSessionID)
		return sessionstart.Pass().WithContext(context).WithEnv("A", "1").WithEnv("B", "é"), nil
	})
	sessionend.Handle(func(_ hook.EventContext, e sessionend.Event) (sessionend.Output, error) {
		log.Info("%s", fields(e.Reason, e.TotalTurns, e.TotalTokens))
		return sessionend.Pass(), nil
	})
	notification.Handle(func(_ hook.EventContext, e notification.Event) (notification.Output, error) {
		return notification.Pass().WithSystemMessage(fields(e.Message, e.Title, e.NotificationType)), nil
	})
	subagentstart.Handle(func(_ hook.EventContext, e subagentstart.Event) (subagentstart.Output, error) {
		return subagentstart.Pass().WithContext(fields(e.AgentID, e.AgentType, e.TaskDescription, e.ParentAgentID)), nil
	})
	subagentstop.Handle(func(_ hook.EventContext, e subagentstop.Event) (subagentstop.Output, error) {
		if e.StopHookActive {
			return subagentstop.Pass(), nil
		}
		return subagentstop.Block(fields(e.AgentID, e.AgentType, e.AgentTranscriptPath, e.TaskDescription, e.Success,
			e.ResultSummary, e.Error, e.FinalResponse)), nil
	})
	stop.Handle(func(_ hook.EventContext, e stop.Event) (stop.Output, error) {
		if e.StopHookActive {
			return stop.Pass(), nil
		}
		return stop.Block(fields(e.StopReason, e.FinalResponse)), nil
	})
	precompact.Handle(func(_ hook.EventContext, e precompact.Event) (precompact.Output, error) {
		if e.Trigger != "auto" {
			return precompact.Pass(), nil
		}
		return precompact.Block(fields(e.Trigger, e.CustomInstructions, e.MessagesBefore, e.TokensBefore)), nil
	})
	taskcompleted.Handle(func(_ hook.EventContext, e taskcompleted.Event) (taskcompleted.Output, error) {
		return taskcompleted.Block(fields(e.TaskID, e.TaskSubject, e.TaskDescription, e.ResultSummary, e.Success)), nil
	})
	beforellm.Handle(func(_ hook.EventContext, e beforellm.Event) (beforellm.Output, error) {
		log.Info("%s", fields(e.Messages.String("/0/content"), e.Tools.String("/0/name"), e.Options.String("/mode"), e.GracefulTerminal))
		return beforellm.Pass().WithRequest(object{"model": e.Model + "-small"}), nil
	})
	afterllm.Handle(func(_ hook.EventContext, e afterllm.Event) (afterllm.Output, error) {
		log.Info("%s", e.Model)
		return afterllm.Pass().WithResponse(object{"content": "clean " + e.Response.String("/content")}), nil
	})
	agentevent.Handle(func(_ hook.EventContext, e agentevent.Event) error {
		log.Info("%s", fields(e.Kind, e.Payload.String("/name")))
		return nil
	})
	otherevent.Handle(func(context hook.EventContext, e hook.JSON) (hook.JSON, error) {
		if e.Bool("/quiet") {
			return hook.JSON{}, nil
		}
		return hook.JSONOf(object{"systemMessage": context.EventName + " " + e.String("/word")}), nil
	})
}

func tool(context hook.EventContext, call hook.ToolCall) (pretooluse.Output, error) {
	pass := pretooluse.Pass()
	switch call.Name {
	case "allow":
		return pretooluse.Allow().WithReason("fine").WithInput(call.Input.With("/command", "ls -l")), nil
	case "ask":
		return pretooluse.Ask("sure?"), nil
	case "skip":
		return pretooluse.Skip("left out"), nil
	case "deny":
		return pretooluse.Deny(call.Input.String("/command")), nil
	case "respond":
		return pretooluse.Respond(pretooluse.Response{ForLLM: "instead", ForUser: "shown", Silent: true, IsError: true,
			Extra: hook.JSONOf(object{"media": []string{"m"}})}), nil
	case "reroute":
		return pretooluse.Allow().WithTool("other"), nil
	case "rewrite":
		return pretooluse.Allow().WithInput(object{"a": []any{1, 2.5, nil, true, "é"}}), nil
	case "effects":
		return pass.WithContext("one").WithSystemMessage("warned").Suppress().WithExtra(object{"odd": 1}), nil
	case "turn":
		return pass.EndTurn("enough"), nil
	case "session":
		return pass.EndSession("over"), nil
	case "call":
		return pass.WithContext(fields(call.Name, call.Input.String("/command"), call.UseID, call.OriginalInput.String("/command"))), nil
	case "context":
		log.Info("%s", fields(context.Dialect, context.EventName, context.SessionID, context.TranscriptPath, context.Cwd,
			context.PermissionMode, context.ProjectDir, context.ExecutionID, context.Timestamp, context.AgentID,
			context.ParentToolUseID, context.TurnID, context.ParentTurnID, context.Iteration, context.Channel, context.ChatID))
	case "log":
		log.Debug("one é")
		log.Info("two")
		log.Warn("three")
		log.Error("four")
	case "config":
		number, _ := config.JSON().Int("/nested/number")
		return pass.WithContext(fields(config.JSON().String("/greeting"), number)), nil
	case "raw":
		return pass.WithContext(event.Raw().String("/odd")), nil
	case "count":
		count, err := state.Increment("count", 1)
		return pass.WithContext(fmt.Sprint(count)), err
	case "kept":
		_, err := state.IncrementFor(time.Hour, "window", 1)
		return pass, errors.Join(err, state.SetFor(time.Hour, "kept", "1"))
	case "state":
		text, err := useState()
		return pass.WithContext(text), err
	case "dump":
		keys, err := state.Keys("")
		for i, key := range keys {
			value, _, err := state.Get(key)
			if err != nil {
				return pass, err
			}
			keys[i] = key + "=" + value
		}
		return pass.WithContext(strings.Join(keys, ",")), err
	case "not-a-number":
		if err := state.Set("t", "x"); err != nil {
			return pass, err
		}
		if _, err := state.Increment("t", 1); errors.Is(err, state.ErrNotANumber) {
			return pass.WithContext("not a number"), nil
		}
	case "http":
		response, err := http.Send(http.Request{Method: "POST", URL: call.Input.String("/url"),
			Header: [][2]string{{"x-a", "1"}, {"content-type", "application/json"}}, Body: []byte(`{"a":"é"}`)})
		if err != nil {
			return pass, err
		}
		return pass.WithContext(fields(response.Status, response.Get("x-answer"), string(response.Body))), nil
	case "http-denied":
		if _, err := http.Get("https://nowhere.example/"); errors.Is(err, http.ErrDenied) {
			return pass.WithContext("denied"), nil
		}
	case "llm":
		answer, err := llm.Complete(llm.Prompt{User: "why?", System: "be short", MaxTokens: 20})
		return pass.WithContext(answer), err
	case "fail":
		return pass, errors.New("it broke")
	case "bad-input":
		return pass, hook.BadInput("not mine")
	}
	return pass, nil
}

// useState calls everything once; the first failure is the result.
func useState() (string, error) {
	var failures []error
	text := func(text string, ok bool, err error) string {
		failures = append(failures, err)
		if !ok {
			return "-"
		}
		return text
	}
	is := func(is bool, err error) bool {
		failures = append(failures, err)
		return is
	}
	number := func(number int64, err error) int64 {
		failures = append(failures, err)
		return number
	}
	x, e := "x", "é"
	before := text(state.Get("a"))
	failures = append(failures, state.Set("a", "é"))
	parts := []any{
		before,
		text(state.Get("a")),
		number(state.Increment("n", 5)),
		number(state.Increment("n", -2)),
		is(state.CompareAndSwap("a", &x, "y")),
		is(state.CompareAndSwap("a", &e, "z")),
		is(state.CompareAndSwap("b", nil, "1")),
	}
	keys, err := state.Keys("")
	parts = append(parts, keys, is(state.Delete("a")), is(state.Delete("a")))
	return fields(parts...), errors.Join(append(failures, err)...)
}
