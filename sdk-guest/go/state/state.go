// Package state has keys and values that outlive a call, separate for each tenant, hook and (if configured) session.
//
// A hook starts without memory of earlier calls, so values to remember belong here.
package state

import (
	"errors"
	"time"
)

// Errors of an operation.
var (
	// ErrQuota: the key or value is too long, or the hook holds too many.
	ErrQuota = errors.New("state: quota")
	// ErrNotANumber: Increment found a value that is not a whole number.
	ErrNotANumber = errors.New("state: the value is not a whole number")
	// ErrUnavailable: the store is busy or broken. A retry may help.
	ErrUnavailable = errors.New("state is unavailable")
)

// Get returns the value of a key; ok is false if it is missing.
func Get(key string) (value string, ok bool, err error) { return get(key) }

// Set sets a value.
func Set(key, value string) error { return set(key, value, nil) }

// SetFor sets a value that expires after ttl.
func SetFor(ttl time.Duration, key, value string) error { return set(key, value, milliseconds(ttl)) }

// Delete deletes a value, and reports whether there was one.
func Delete(key string) (bool, error) { return remove(key) }

// Increment adds atomically and returns the new value. A missing value counts as 0.
func Increment(key string, by int64) (int64, error) { return increment(key, by, nil) }

// IncrementFor is Increment, but a new value expires after ttl. Use it to count per time window.
func IncrementFor(ttl time.Duration, key string, by int64) (int64, error) {
	return increment(key, by, milliseconds(ttl))
}

// CompareAndSwap sets the value only if it is still expected, where nil means no value. It reports whether it was set.
func CompareAndSwap(key string, expected *string, value string) (bool, error) {
	return compareAndSwap(key, expected, value, nil)
}

// Keys returns the keys that begin with the prefix, in byte order.
func Keys(prefix string) ([]string, error) { return keys(prefix) }

func milliseconds(ttl time.Duration) *uint64 {
	milliseconds := uint64(max(ttl.Milliseconds(), 0))
	return &milliseconds
}
