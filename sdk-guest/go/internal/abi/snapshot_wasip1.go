//go:build hookbox_snapshot

package abi

import _ "unsafe" // for go:linkname

var seeded bool

// `hookbox build` starts the runtime once and keeps its memory, so that calls need not start it again. Each call draws
// a new seed before anything else. So only maps that exist already have the same seed in every call. `hookbox build`
// adds `hookboxReseed` to the runtime.
func reseed() {
	if !seeded {
		seeded = true
		hookboxReseed()
	}
}

//go:linkname hookboxReseed runtime.hookboxReseed
func hookboxReseed()
