// Package log writes log messages for the operator. They are never part of the protocol. The package is always granted,
// up to the `logKiB` limit. Text printed to stdout and stderr is logged too, as info and warn.
package log

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
)

// Debug logs a message for the author of the hook.
func Debug(format string, arguments ...any) { write(0, format, arguments) }

// Info logs what the hook did.
func Info(format string, arguments ...any) { write(1, format, arguments) }

// Warn logs a problem that does not stop the hook.
func Warn(format string, arguments ...any) { write(2, format, arguments) }

// Error logs a failure.
func Error(format string, arguments ...any) { write(3, format, arguments) }

func write(level uint8, format string, arguments []any) {
	if len(arguments) > 0 {
		format = fmt.Sprintf(format, arguments...)
	}
	send(level, format)
}

// Handler writes log/slog records to this log: slog.SetDefault(slog.New(log.Handler())). It omits the time, which the
// host knows.
func Handler() slog.Handler {
	handler := &handler{text: &bytes.Buffer{}}
	handler.Handler = slog.NewTextHandler(handler.text, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, attribute slog.Attr) slog.Attr {
			if len(groups) == 0 && (attribute.Key == slog.TimeKey || attribute.Key == slog.LevelKey || attribute.Key == slog.MessageKey) {
				return slog.Attr{}
			}
			return attribute
		},
	})
	return handler
}

type handler struct {
	slog.Handler
	text *bytes.Buffer
}

func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	h.text.Reset()
	if err := h.Handler.Handle(ctx, record); err != nil {
		return err
	}
	message := record.Message
	if attributes := bytes.TrimSpace(h.text.Bytes()); len(attributes) > 0 {
		message += " " + string(attributes)
	}
	send(level(record.Level), message)
	return nil
}

func (h *handler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attributes), h.text}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.text}
}

func level(level slog.Level) uint8 {
	switch {
	case level < slog.LevelInfo:
		return 0
	case level < slog.LevelWarn:
		return 1
	case level < slog.LevelError:
		return 2
	default:
		return 3
	}
}
