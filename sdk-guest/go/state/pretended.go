//go:build !wasip1

package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"
)

// Times to live are ignored, because a test ends sooner.

func get(key string) (string, bool, error) {
	value, ok := pretend.Current().State[key]
	return value, ok, nil
}

func set(key, value string, _ *uint64) error {
	pretend.Current().State[key] = value
	return nil
}

func remove(key string) (bool, error) {
	_, was := pretend.Current().State[key]
	delete(pretend.Current().State, key)
	return was, nil
}

func increment(key string, by int64, _ *uint64) (int64, error) {
	state := pretend.Current().State
	number := int64(0)
	if value, ok := state[key]; ok {
		var err error
		if number, err = strconv.ParseInt(value, 10, 64); err != nil {
			return 0, ErrNotANumber
		}
	}
	sum := number + by
	if (sum > number) != (by > 0) && by != 0 {
		return 0, ErrNotANumber
	}
	state[key] = strconv.FormatInt(sum, 10)
	return sum, nil
}

func compareAndSwap(key string, expected *string, value string, _ *uint64) (bool, error) {
	state := pretend.Current().State
	found, ok := state[key]
	same := ok == (expected != nil) && (!ok || found == *expected)
	if same {
		state[key] = value
	}
	return same, nil
}

func keys(prefix string) ([]string, error) {
	var found []string
	for key := range pretend.Current().State {
		if strings.HasPrefix(key, prefix) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found, nil
}
