//go:build !wasip1

package config

import "github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"

func get() string { return pretend.Current().Config }
