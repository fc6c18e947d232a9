// Rate-limit-go limits the number of calls of a tool per time window.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/hookbox/hookbox/sdk-guest/go/config"
	"github.com/hookbox/hookbox/sdk-guest/go/hook"
	"github.com/hookbox/hookbox/sdk-guest/go/pretooluse"
	"github.com/hookbox/hookbox/sdk-guest/go/state"
)

type settings struct {
	// Max is the number of calls of one tool in one session and window.
	Max int64 `json:"max"`
	// Seconds is the length of a window, which starts with the first call.
	Seconds int64 `json:"seconds"`
	// Tools has other limits for single tools.
	Tools map[string]int64 `json:"tools"`
}

func init() { pretooluse.Handle(limit) }

func main() {}

func limit(context hook.EventContext, call hook.ToolCall) (pretooluse.Output, error) {
	settings := settings{Max: 50, Seconds: 60}
	if err := config.Get(&settings); err != nil {
		return pretooluse.Output{}, err
	}
	most, ok := settings.Tools[call.Name]
	if !ok {
		most = settings.Max
	}
	window := time.Duration(settings.Seconds) * time.Second
	calls, err := state.IncrementFor(window, "calls/"+context.SessionID+"/"+call.Name, 1)
	switch {
	case errors.Is(err, state.ErrQuota):
		// Too many sessions or tools: deny a call that cannot be counted.
		return pretooluse.Deny("there are too many counts to make another"), nil
	case err != nil:
		return pretooluse.Output{}, err
	case calls > most:
		return pretooluse.Skip(fmt.Sprintf("%s is limited to %d calls in %s", call.Name, most, window)), nil
	}
	return pretooluse.Pass(), nil
}
