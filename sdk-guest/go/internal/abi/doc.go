// Package abi is the canonical ABI of the component model as far as the contract needs it, and the call of a handler.
// There is nothing of it outside WebAssembly.
package abi
