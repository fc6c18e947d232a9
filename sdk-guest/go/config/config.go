// Package config has the hook's own `config` object from the configuration file. It is always granted: it was written
// for this hook.
package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
)

// Get reads the object into a value of your own, on top of what is in it: set defaults first. A member it does not know
// is an error, so that a misspelt one is not overlooked.
//
//	settings := settings{Max: 50}
//	if err := config.Get(&settings); err != nil {
//		return pretooluse.Output{}, err
//	}
func Get(into any) error {
	decoder := json.NewDecoder(bytes.NewReader([]byte(get())))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// JSON is the object as it was written; {} when none was.
func JSON() hook.JSON { return hook.Text(get()) }
