package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// mayHoldSecret reports whether the value at a path is, is in, or contains one that may hold a secret by mistake.
func mayHoldSecret(path string) bool {
	path = withAnyIndex(path)
	return slices.ContainsFunc(slices.Concat(Settings(), Elements()), func(s Setting) bool {
		return s.Secret && (path == s.Path || strings.HasPrefix(path, s.Path+".") || strings.HasPrefix(s.Path, path+"."))
	})
}

// withAnyIndex returns a path as declarations have it, for any element of its lists.
func withAnyIndex(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = anyIndex
		}
	}
	return strings.Join(parts, ".")
}

// isTable reports whether settings are below a path.
func isTable(path string) bool {
	above := withAnyIndex(path) + "."
	return slices.ContainsFunc(keysOf("", reflect.TypeFor[Config]()), func(key string) bool { return strings.HasPrefix(key, above) })
}
