// Package event has the event as the client sent it. It is always granted.
package event

import "github.com/hookbox/hookbox/sdk-guest/go/hook"

// Raw returns the whole event as it came over the wire. Use it for fields that the contract does not have. If the
// dialect chains hooks, rewrites of earlier hooks are applied. The host copies the event only for hooks that call this.
func Raw() hook.JSON { return hook.Text(raw()) }
