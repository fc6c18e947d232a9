package runtime

import _ "unsafe" // for go:linkname

// hookboxReseed gives the runtime a new seed. Its memory was kept by `hookbox build` after it had started, and what it
// drew from then on would be the same in every call.
//
//go:linkname hookboxReseed
func hookboxReseed() {
	var seed [32]byte
	if readRandom(seed[:]) != len(seed) {
		fatal("no random seed")
	}
	globalRand.state.Init(seed)
	mrandinit(getg().m)
}
