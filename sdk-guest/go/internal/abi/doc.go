// Package abi has the part of the component model's canonical ABI that the contract needs, and the call of a handler.
// It is empty outside WebAssembly.
package abi
