package config

import (
	"reflect"
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
	for secret, field := range fieldsOf("", reflect.TypeFor[Config]()) {
		if field.Tag.Get("secret") != "" && (path == secret || strings.HasPrefix(path, secret+".") || strings.HasPrefix(secret, path+".")) {
			return true
		}
	}
	return false
}
