//go:build !wasip1

package event

import "github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"

func raw() string { return pretend.Current().Raw }
