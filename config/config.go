// Package config is the configuration of urnd: plain structs with their defaults and limits. A file (YAML or
// TOML), the environment and flags enter; a validated Config leaves, or all errors with their positions, and
// warnings. It is loaded at startup and at each reload. Only cmd/urnd and internal/cli import it.
//
// settings.yaml is the table of all settings, from which the structs and declarations in settings_generated.go
// are generated. Files are YAML, as go.yaml.in/yaml/v3 reads it, or TOML 1.0.
package config

import (
	"reflect"

	"github.com/urnd/urnd/config/source"
)

//go:generate go run ./table

// Settings returns all settings in file order, each section before its settings. Callers must not modify them.
func Settings() []Setting { return settings }

// Diagnostic is an error in a configuration. Diagnostics is the error of Load and Validate: all of them, not only the
// first.
type (
	Diagnostic  = source.Diagnostic
	Diagnostics = source.Diagnostics
)

// Default returns the default configuration: that of Settings without any source.
func Default() Config {
	var c Config
	fields := fieldsByPath(reflect.ValueOf(&c).Elem())
	for _, s := range Settings() {
		if s.Default != nil {
			fields[s.Path].Set(copied(reflect.ValueOf(s.Default)))
		}
	}
	return c
}

// copied returns a value; a list is copied, so that it is not shared.
func copied(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Slice {
		return v
	}
	return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
}

// fieldsByPath returns the fields of a configuration by setting path, including sections.
func fieldsByPath(config reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value)
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for field, value := range v.Fields() {
			path := prefix + field.Tag.Get("mapstructure")
			fields[path] = value
			if isSection(field.Type) {
				walk(path+".", value)
			}
		}
	}
	walk("", config)
	return fields
}
