// Package config is the configuration of urnd: plain structs, their defaults and bounds. It is read at the start and at each reload;
// only cmd/urnd and internal/cli import it.
//
// settings.yaml is the table of all settings. The structs and declarations in settings_generated.go are made of it.
package config

import "github.com/urnd/urnd/config/source"

//go:generate go run ./table

// Settings returns all settings, in the order of the file, each section before its own. Callers must not modify them.
func Settings() []Setting { return settings }

// Fault is one error in a configuration, and Faults is the error of Load and Validate: all of them, not only the first.
type (
	Fault  = source.Fault
	Faults = source.Faults
)
