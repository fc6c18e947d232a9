//go:build hookbox_snapshot

package abi

import _ "unsafe" // for go:linkname

var seeded bool

// `hookbox build` starts the runtime once and keeps its memory, so that a call need not start it again. What the runtime
// drew from its seed until then is the same in every call: maps that exist already, and nothing else, because the first
// thing a call does is to draw a new one. `hookboxReseed` is added to the runtime by `hookbox build`.
func reseed() {
	if !seeded {
		seeded = true
		hookboxReseed()
	}
}

//go:linkname hookboxReseed runtime.hookboxReseed
func hookboxReseed()
