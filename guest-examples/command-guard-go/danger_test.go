package main

import (
	"strings"
	"testing"
)

func TestDanger(t *testing.T) {
	for command, why := range map[string]string{
		"rm -rf /":                           "`rm -rf`",
		"r'm' \"-rf\" x":                     "`rm -rf`",
		"\\rm -rf x":                         "`rm -rf`",
		"rm --rec -f x":                      "`rm -rf`",
		"sudo -u root env A=1 rm -rf x":      "`rm -rf`",
		"find . -name x -exec rm -rf {} +":   "`rm -rf`",
		"echo \"`rm -rf x`\"":                "`rm -rf`",
		"echo \"a $(rm -rf x) b\"":           "`rm -rf`",
		"sudo sh -ec \"cd /; rm -rf x\"":     "`rm -rf`",
		"rm${IFS}-rf${IFS}x":                 "`rm -rf`",
		"rm \\\n -rf x":                      "`rm -rf`",
		"dd bs=1M if=image":                  "`dd if=`",
		"sudo mkfs.ext4 -F /dev/sdb":         "`mkfs`",
		"cat image >> /tmp/../dev/sda":       "writing to `/dev/sda`",
		"cat image &> /dev/sda":              "writing to `/dev/sda`",
		"cat image | sudo tee /dev/sda":      "writing to `/dev/sda`",
		"rm -- -rf":                          "",
		"git rm -rf x":                       "",
		"git commit -m 'never run rm -rf /'": "",
		"ls > /dev/null 2>&1":                "",
		"echo x > dev/sda":                   "",
		"ls # rm -rf x":                      "",
		"é 'ü' \"ö\"":                        "",
		"":                                   "",
	} {
		if found := find(command, nesting); found != why {
			t.Errorf("%s: %q, not %q", command, found, why)
		}
	}
	if find(strings.Repeat("$(", 10_000), nesting) == "" {
		t.Error("nesting without end")
	}
}
