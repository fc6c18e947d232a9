package main

import (
	"slices"
	"strings"
)

var (
	// Programs that run another program given in their arguments.
	runners = strings.Fields("sudo doas env nohup time timeout nice ionice exec command builtin busybox setsid stdbuf xargs find watch")
	// Programs that read a command from a string.
	shells = strings.Fields("sh bash zsh dash ash ksh fish eval")
	// Words that may stand before a command.
	keywords = strings.Fields("! { if then elif else while until do coproc")
	// Devices that discard or display what is written to them.
	harmless = strings.Fields("/dev/null /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full")
)

// Maximum nesting of commands in strings (`sh -c "sh -c …"`).
const nesting = 8

// find returns the first dangerous command of a command line, or "".
func find(text string, depth int) string {
	if depth == 0 {
		return "a command inside so many others"
	}
	commands, why := parse(text)
	if why != "" {
		return why
	}
	for _, command := range commands {
		if why := inCommand(command, depth-1); why != "" {
			return why
		}
	}
	return ""
}

func inCommand(command command, depth int) string {
	for _, target := range command.targets {
		if device := resolve(target); isDevice(device) {
			return "writing to `" + device + "`"
		}
	}
	start := slices.IndexFunc(command.words, func(word string) bool {
		return !slices.Contains(keywords, word) && !isAssignment(word)
	})
	if start < 0 {
		return ""
	}
	return inWords(command.words[start:], depth)
}

// name returns the program's name: `/bin/rm` is `rm`.
func name(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }

func inWords(words []string, depth int) string {
	program, arguments := name(words[0]), words[1:]
	starts := func(prefix string) bool {
		return slices.ContainsFunc(arguments, func(argument string) bool { return strings.HasPrefix(argument, prefix) })
	}
	switch {
	case program == "rm" && isRecursiveAndForced(arguments):
		return "`rm -rf`"
	case program == "dd" && starts("if="):
		return "`dd if=`"
	case program == "dd" || program == "tee":
		for _, argument := range arguments {
			if path := resolve(strings.TrimPrefix(argument, "of=")); isDevice(path) {
				return "writing to `" + path + "`"
			}
		}
	case program == "mkfs" || strings.HasPrefix(program, "mkfs."):
		return "`mkfs`"
	case slices.Contains(shells, program):
		for _, argument := range arguments {
			if why := find(argument, depth); why != "" {
				return why
			}
		}
	case slices.Contains(runners, program):
		// The runner's options determine which argument is the program, so try every argument. Skip a runner inside a runner:
		// the outer one already tries all arguments.
		for at := range arguments {
			if slices.Contains(runners, name(arguments[at])) {
				continue
			}
			if why := inWords(arguments[at:], depth); why != "" {
				return why
			}
		}
	}
	return ""
}

// isRecursiveAndForced detects `-rf`, `-r -f`, `-fR`, `--recursive --force`, and the abbreviations that GNU accepts.
func isRecursiveAndForced(arguments []string) bool {
	recursive, forced := false, false
	for _, argument := range arguments {
		if argument == "--" {
			break
		}
		if long, ok := strings.CutPrefix(argument, "--"); ok {
			recursive = recursive || strings.HasPrefix("recursive", long)
			forced = forced || strings.HasPrefix("force", long)
		} else if short, ok := strings.CutPrefix(argument, "-"); ok {
			recursive = recursive || strings.ContainsAny(short, "rR")
			forced = forced || strings.Contains(short, "f")
		}
	}
	return recursive && forced
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func isDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/fd/") && !slices.Contains(harmless, path)
}

// resolve normalizes a path: `/dev/./sda` and `/tmp/../dev//sda` become `/dev/sda`. A relative path stays relative.
func resolve(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			parts = parts[:max(len(parts)-1, 0)]
		default:
			parts = append(parts, part)
		}
	}
	root := ""
	if strings.HasPrefix(path, "/") {
		root = "/"
	}
	return root + strings.Join(parts, "/")
}
