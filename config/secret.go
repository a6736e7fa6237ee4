package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// mayHoldSecret reports whether the value at a path is, is in, or contains one that may hold a secret by mistake, also where its
// section is missing or another one.
func mayHoldSecret(path string) bool {
	path = withAnyIndex(path)
	if names := secretNames(); slices.ContainsFunc(strings.Split(path, "."), func(part string) bool { return names[part] }) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(Settings(), Elements()), func(s Setting) bool {
		return s.Secret && (path == s.Path || strings.HasPrefix(path, s.Path+".") || strings.HasPrefix(s.Path, path+"."))
	})
}

// secretNames are the last parts of the paths of the settings that may hold a secret by mistake.
func secretNames() map[string]bool {
	names := make(map[string]bool)
	for _, s := range slices.Concat(Settings(), Elements()) {
		if s.Secret {
			names[s.Path[strings.LastIndexByte(s.Path, '.')+1:]] = true
		}
	}
	return names
}

// withoutSecretKeys returns paths up to a setting that may hold a secret by mistake: what are keys below it may be the secret.
func withoutSecretKeys(paths ...string) []string {
	names, all := secretNames(), make([]string, len(paths))
	for n, path := range paths {
		parts := strings.Split(path, ".")
		if i := slices.IndexFunc(parts, func(part string) bool { return names[part] }); i >= 0 {
			parts = parts[:i+1]
		}
		all[n] = strings.Join(parts, ".")
	}
	return slices.Compact(all)
}

// shown returns a part of the value at a path, or what stands for it where it may be a secret.
func shown(path, text string) string {
	if mayHoldSecret(path) {
		return "…"
	}
	return text
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
