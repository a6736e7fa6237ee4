// Package config is the configuration of urnd: plain structs, their defaults and bounds. It is read at the start and at each reload;
// only cmd/urnd and internal/cli import it.
//
// settings.yaml is the table of all settings. The structs and declarations in settings_generated.go are made of it.
package config

import (
	"reflect"

	"github.com/urnd/urnd/config/source"
)

//go:generate go run ./table

// Settings returns all settings, in the order of the file, each section before its own. Callers must not modify them.
func Settings() []Setting { return settings }

// Fault is one error in a configuration, and Faults is the error of Load and Validate: all of them, not only the first.
type (
	Fault  = source.Fault
	Faults = source.Faults
)

// Default returns the configuration of urnd without any source: the defaults of Settings.
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

// copied returns a value whose list, if it is one, is no other's.
func copied(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Slice {
		return v
	}
	return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
}

// fieldsByPath returns the fields of a configuration by the paths of their settings, sections included.
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
