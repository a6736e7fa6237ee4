package config

import _ "embed"

// Example is a complete, commented configuration file in YAML: the defaults.
//
//go:embed example.yaml
var Example string
