// Package log has messages for whoever runs the hook. They are never part of the protocol, always granted, and capped in
// volume. What is printed to stdout and stderr goes there too, as info and warn.
package log

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
)

// Debug is for whoever debugs the hook.
func Debug(format string, arguments ...any) { write(0, format, arguments) }

// Info is for whoever wants to know what the hook did.
func Info(format string, arguments ...any) { write(1, format, arguments) }

// Warn says that something is not as it should be, and the hook goes on.
func Warn(format string, arguments ...any) { write(2, format, arguments) }

// Error says that something is broken.
func Error(format string, arguments ...any) { write(3, format, arguments) }

func write(level uint8, format string, arguments []any) {
	if len(arguments) > 0 {
		format = fmt.Sprintf(format, arguments...)
	}
	send(level, format)
}

// Handler writes log/slog records there: slog.SetDefault(slog.New(log.Handler())). The host knows the time.
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
