package config

import (
	"slices"
	"strconv"
	"strings"
)

// mayHoldSecret reports whether the value at a path is, is in, or contains one that may hold a secret by mistake.
func mayHoldSecret(path string) bool {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = anyIndex
		}
	}
	path = strings.Join(parts, ".")
	return slices.ContainsFunc(slices.Concat(Settings(), Elements()), func(s Setting) bool {
		return s.Secret && (path == s.Path || strings.HasPrefix(path, s.Path+".") || strings.HasPrefix(s.Path, path+"."))
	})
}
