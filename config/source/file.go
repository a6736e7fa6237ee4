// Package source reads configuration files in YAML or TOML 1.0. A file and a Schema enter; its values
// leave, with the position of each, or errors with positions and suggestions. It also finds values that the
// parser reads differently from what the writer probably meant, such as aliases, octal numbers and typographic
// quotation marks.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Schema is what this package needs to know of the settings to explain mistakes. Paths are dotted, with the
// indexes of lists: "namespaces.0.nid".
type Schema struct {
	// SecretNames are the last path components of settings that may hold a secret by mistake.
	SecretNames map[string]bool
	// MayHoldSecret reports whether the value at a path is, is within, or contains a setting that may hold a
	// secret by mistake.
	MayHoldSecret func(path string) bool
	IsTable       func(path string) bool // whether there are settings below the path
	IsText        func(path string) bool // whether the setting is a text, or a list of texts
}

// File is a parsed configuration file.
type File struct {
	Name   string
	Values map[string]any
	// Empty lists the paths of keys without a value.
	Empty []string

	positions positions
	written   writing
}

// positions maps the paths of keys and elements to positions in the file.
type positions interface {
	// at returns the position of path, or of the nearest enclosing table or list; the zero value if none is in
	// the file.
	at(path string) Position
}

// At returns the position of a path, or of the nearest enclosing table or list; the zero value if none is in
// the file.
func (f *File) At(path string) Position {
	if f == nil || f.positions == nil {
		return Position{}
	}
	return f.positions.at(path)
}

// Instead replaces diagnostics of the decoder by those found in the text of the file, where there are such. unknown
// is the start of the decoder's message about an unknown key.
func (f *File) Instead(failures Diagnostics, unknown string) Diagnostics {
	if f == nil {
		return failures
	}
	return f.written.instead(failures, f.Name, unknown)
}

// IsWrong reports whether the file has values that the parser reads differently from what was meant.
func (f *File) IsWrong() bool { return f != nil && len(f.written.failures) > 0 }

// Read reads and parses a YAML or TOML file. The error is of type Diagnostics, or the reason why the file cannot be
// read.
func Read(name string, schema Schema) (*File, error) {
	kind := strings.TrimPrefix(filepath.Ext(name), ".")
	if !slices.Contains([]string{"yaml", "yml", "toml"}, kind) {
		return nil, fmt.Errorf("reading configuration %s: %w", name,
			errors.New("the name does not end in .yaml, .yml or .toml"))
	}
	text, err := os.ReadFile(name) //nolint:gosec // the path is set by the administrator
	if err != nil {
		return nil, fmt.Errorf("reading configuration %s: %w", name, err)
	}
	if at, message := notUTF8(text); message != "" {
		return nil, Diagnostics{{File: name, Position: at, Message: message}}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors add a byte order mark
	f := &File{Name: name, Values: make(map[string]any)}
	if isTOML(name) {
		f.positions, f.written = readTOML(text, schema)
		err = toml.Unmarshal(text, &f.Values)
	} else {
		err = f.readYAML(text, schema)
	}
	if err != nil {
		return nil, syntax{schema, strings.Split(string(text), "\n")}.explain(name, text, err)
	}
	return f, nil
}

func isTOML(path string) bool { return filepath.Ext(path) == ".toml" }

// readYAML parses a YAML file once. viper would parse it again, which takes most of the startup time with many
// rules.
func (f *File) readYAML(text []byte, schema Schema) error {
	parsed, err := parseYAML(text)
	if err != nil || parsed.root == nil {
		return err
	}
	if err := parsed.root.Decode(&f.Values); err != nil {
		return err
	}
	if parsed.message != "" {
		return Diagnostics{{File: f.Name, Position: parsed.at, Message: parsed.message}}
	}
	f.positions, f.Empty, f.written = yamlPositions{parsed.root}, withoutValue(parsed.root),
		writtenInYAML(parsed.root, schema)
	return nil
}
