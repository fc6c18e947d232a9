// Package config reads the hook's own `config` object from the configuration file. It is always granted.
package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookbox/hookbox/sdk-guest/go/hook"
)

// Get reads the object into a value of the hook. Members that the object does not have keep their value, so set
// defaults first. An unknown member is an error, so that misspelt names are found.
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

// JSON returns the object as it was written, or {} if the configuration has none.
func JSON() hook.JSON { return hook.Text(get()) }
