package runtime

import _ "unsafe" // for go:linkname

// hookboxReseed gives the runtime a new seed. The component contains a snapshot of the started runtime, so without a new
// seed its random numbers would be the same in every call.
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
