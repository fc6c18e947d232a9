// Go-probe handles every event, and does what a tool's name says to show what works in Go.
package main

import (
	crypto "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
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

// Drawn while `hookbox build` starts the runtime.
var built = map[string]int{"a": 1, "b": 2}

func init() {
	slog.SetDefault(slog.New(log.Handler()))
	pretooluse.Handle(probe)
	userpromptsubmit.Handle(func(_ hook.EventContext, e userpromptsubmit.Event) (userpromptsubmit.Output, error) {
		return userpromptsubmit.Block("no " + e.Prompt).WithContext("one").WithContext("two"), nil
	})
	posttooluse.Handle(func(_ hook.EventContext, _ hook.ToolCall, output posttooluse.ToolOutput) (posttooluse.Output, error) {
		return posttooluse.Pass().WithContext(output.Value.String("/stdout")), nil
	})
	posttoolusefailure.Handle(func(_ hook.EventContext, _ hook.ToolCall, failure posttoolusefailure.Failure) (posttoolusefailure.Output, error) {
		return posttoolusefailure.Pass().WithContext(failure.Error), nil
	})
	permissionrequest.Handle(func(_ hook.EventContext, _ hook.ToolCall, _ permissionrequest.Event) (permissionrequest.Output, error) {
		return permissionrequest.Deny("never").Interrupting(), nil
	})
	canusetool.Handle(func(_ hook.EventContext, _ hook.ToolCall, e canusetool.Event) (canusetool.Output, error) {
		return canusetool.Ask(fmt.Sprint(e.AffectedPaths)), nil
	})
	sessionstart.Handle(func(_ hook.EventContext, e sessionstart.Event) (sessionstart.Output, error) {
		return sessionstart.Pass().WithContext(e.Source).WithEnv("A", "1"), nil
	})
	sessionend.Handle(func(hook.EventContext, sessionend.Event) (sessionend.Output, error) { return sessionend.Pass(), nil })
	notification.Handle(func(_ hook.EventContext, e notification.Event) (notification.Output, error) {
		return notification.Pass().WithSystemMessage(e.Message), nil
	})
	subagentstart.Handle(func(hook.EventContext, subagentstart.Event) (subagentstart.Output, error) {
		return subagentstart.Pass(), nil
	})
	subagentstop.Handle(func(hook.EventContext, subagentstop.Event) (subagentstop.Output, error) {
		return subagentstop.Block("go on"), nil
	})
	stop.Handle(func(_ hook.EventContext, e stop.Event) (stop.Output, error) {
		if e.StopHookActive {
			return stop.Pass(), nil
		}
		return stop.Block("go on"), nil
	})
	precompact.Handle(func(hook.EventContext, precompact.Event) (precompact.Output, error) {
		return precompact.Pass().EndSession("enough"), nil
	})
	taskcompleted.Handle(func(hook.EventContext, taskcompleted.Event) (taskcompleted.Output, error) {
		return taskcompleted.Block("not yet"), nil
	})
	beforellm.Handle(func(_ hook.EventContext, e beforellm.Event) (beforellm.Output, error) {
		return beforellm.Pass().WithRequest(map[string]any{"model": e.Model + "-small"}), nil
	})
	afterllm.Handle(func(hook.EventContext, afterllm.Event) (afterllm.Output, error) { return afterllm.Pass(), nil })
	agentevent.Handle(func(_ hook.EventContext, e agentevent.Event) error {
		log.Info("%s", e.Kind)
		return nil
	})
	otherevent.Handle(func(context hook.EventContext, _ hook.JSON) (hook.JSON, error) {
		return hook.JSONOf(map[string]any{"systemMessage": context.EventName}), nil
	})
}

func probe(context hook.EventContext, call hook.ToolCall) (pretooluse.Output, error) {
	say := func(values ...any) (pretooluse.Output, error) {
		return pretooluse.Pass().WithContext(fmt.Sprint(values...)), nil
	}
	switch call.Name {
	case "time":
		return say(time.Now().Unix())
	case "random":
		return say(rand.Uint64(), " ", crypto.Text(), " ", len(built))
	case "sleep":
		begin := time.Now()
		time.Sleep(30 * time.Millisecond)
		return say(time.Since(begin) >= 30*time.Millisecond)
	case "goroutines":
		var all sync.WaitGroup
		sums := make(chan int, 10)
		for i := range 10 {
			all.Add(1)
			go func() {
				defer all.Done()
				time.Sleep(time.Millisecond)
				sums <- i
			}()
		}
		all.Wait()
		close(sums)
		sum := 0
		for i := range sums {
			sum += i
		}
		return say(sum)
	case "garbage":
		kept := 0
		for range 20 {
			kept += len(make([]byte, 100_000))
			runtime.GC()
		}
		return say(kept)
	case "print":
		fmt.Println("to stdout")
		fmt.Fprint(os.Stderr, "bad \xff byte, good é")
		slog.Warn("to slog", "key", "a value")
		log.Debug("%d%%", 100)
		return say("printed")
	case "state":
		number, err := state.Increment("n", 2)
		if err != nil {
			return pretooluse.Output{}, err
		}
		if err := state.SetFor(time.Hour, "text", "é"); err != nil {
			return pretooluse.Output{}, err
		}
		text, ok, err := state.Get("text")
		_, missing, _ := state.Get("missing")
		swapped, _ := state.CompareAndSwap("text", &text, "other")
		keys, _ := state.Keys("")
		was, _ := state.Delete("text")
		_, notANumber := state.Increment("n", 0)
		return say(number, text, ok, err, missing, swapped, keys, was, notANumber)
	case "config":
		return say(config.JSON().String("/greeting"), event.Raw().String("/tool_name"), context.Dialect, context.SessionID)
	case "http":
		_, err := http.Get("http://127.0.0.1:1/")
		return say(errors.Is(err, http.ErrDenied))
	case "llm":
		_, err := llm.Complete(llm.Prompt{User: "?"})
		return say(err != nil)
	case "rewrite":
		return pretooluse.Allow().WithReason("fine").WithInput(call.Input.With("/command", "ls -l")), nil
	case "respond":
		return pretooluse.Respond(pretooluse.Response{ForLLM: "instead"}), nil
	case "error":
		return pretooluse.Output{}, errors.New("an error")
	case "input":
		var into struct{ Command int }
		return pretooluse.Output{}, call.Input.Unmarshal(&into)
	case "panic":
		panic("a panic")
	case "nil":
		var nowhere map[string]int
		nowhere["x"] = 1
	}
	return pretooluse.Pass(), nil
}
