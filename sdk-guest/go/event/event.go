// Package event has the event as the client sent it. It is always granted: the hook was given this event.
package event

import "github.com/hookbox/hookbox/sdk-guest/go/hook"

// Raw is the whole event as it came over the wire, with rewrites of earlier hooks applied where the dialect chains: for
// fields that the contract does not have. The host copies it only for hooks that ask.
func Raw() hook.JSON { return hook.Text(raw()) }
