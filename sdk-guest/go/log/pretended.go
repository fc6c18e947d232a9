//go:build !wasip1

package log

import "github.com/hookbox/hookbox/sdk-guest/go/internal/pretend"

func send(level uint8, message string) {
	host := pretend.Current()
	host.Logs = append(host.Logs, pretend.Log{Level: [...]string{"debug", "info", "warn", "error"}[level], Message: message})
}
