package config

import (
	"strings"
)

func checkFTPPassword(f *Faults, path string, value any) {
	if text, _ := value.(string); text == "" || strings.ContainsAny(text, "\r\n\x00") {
		f.Add(path, "is empty, or has a line end")
	}
}
