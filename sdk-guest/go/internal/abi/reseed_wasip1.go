//go:build !hookbox_snapshot

package abi

// The runtime seeded itself at the start of this call, so there is nothing to do.
func reseed() {}
