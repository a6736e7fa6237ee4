package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/config/source"
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

// isOfTexts reports whether a setting is a text, or a list of texts.
func isOfTexts(path string) bool {
	path = strings.TrimSuffix(withAnyIndex(path), "."+anyIndex)
	for key, field := range fieldsOf("", reflect.TypeFor[Config]()) {
		if key == path {
			t := field.Type
			return t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String
		}
	}
	return false
}

// schemaOfFiles is what source must know of the settings.
func schemaOfFiles() source.Schema {
	return source.Schema{SecretNames: secretNames(), MayHoldSecret: mayHoldSecret, IsTable: isTable, IsText: isOfTexts}
}
