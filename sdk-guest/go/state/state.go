// Package state has keys and values that outlive a call, kept apart by tenant, hook and (if so configured) session.
//
// A hook starts afresh with every call: what it wants to remember goes here.
package state

import (
	"errors"
	"time"
)

// Why an operation failed.
var (
	// ErrQuota: the key or value is too long, or the hook holds too many.
	ErrQuota = errors.New("state: quota")
	// ErrNotANumber: Increment met a value that is not a whole number.
	ErrNotANumber = errors.New("state: the value is not a whole number")
	// ErrUnavailable: the store is busy or broken; trying again may help.
	ErrUnavailable = errors.New("state is unavailable")
)

// Get is the value of a key, and whether there is one.
func Get(key string) (value string, ok bool, err error) { return get(key) }

// Set sets a value.
func Set(key, value string) error { return set(key, value, nil) }

// SetFor sets a value that is forgotten after a while.
func SetFor(ttl time.Duration, key, value string) error { return set(key, value, milliseconds(ttl)) }

// Delete deletes a value, and tells whether there was one.
func Delete(key string) (bool, error) { return remove(key) }

// Increment adds atomically, a missing value counting as 0, and returns the new value.
func Increment(key string, by int64) (int64, error) { return increment(key, by, nil) }

// IncrementFor is Increment, where a new value is forgotten after a while: a count per window.
func IncrementFor(ttl time.Duration, key string, by int64) (int64, error) {
	return increment(key, by, milliseconds(ttl))
}

// CompareAndSwap sets the value only when it still is expected, where nil is no value, and tells whether it was set.
func CompareAndSwap(key string, expected *string, value string) (bool, error) {
	return compareAndSwap(key, expected, value, nil)
}

// Keys are those that begin with the prefix, in byte order.
func Keys(prefix string) ([]string, error) { return keys(prefix) }

func milliseconds(ttl time.Duration) *uint64 {
	milliseconds := uint64(max(ttl.Milliseconds(), 0))
	return &milliseconds
}
